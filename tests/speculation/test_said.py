"""What a policy says of a candidate, and which rule decides."""

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.said import said

POLICY = Policy.parse(
    """
    [[rule]]
    tool = "book"
    effect = "write"
    [[rule]]
    tool = "look"
    effect = "read"
    [[rule]]
    tool = "peek"
    effect = "read"
    min_confidence = 0.6
    [[rule]]
    tool = "watch"
    effect = "read"
    mode = "observe"
    [[rule]]
    tool = "build"
    effect = "write"
    stage = true
    """,
    "p.toml",
)


@pytest.mark.parametrize(
    ("tool", "confidence", "runs", "words", "rule"),
    [
        ("look", 0.5, True, "a read that may be run ahead", "p.toml: rule 2"),
        ("look", 0.1, False, "less likely than 20%", "p.toml: rule 2"),
        ("peek", 0.5, False, "less likely than 60%", "p.toml: rule 3"),
        ("book", 0.9, False, "a write, never run ahead", "p.toml: rule 1"),
        ("watch", 0.9, False, "mode observe", "p.toml: rule 4"),
        ("build", 0.9, True, "a write that may be run ahead, its effects held back", "p.toml: rule 5"),
        ("other", 0.9, False, "no rule names it", ""),
    ],
)
def test_a_policy_in_words(tool: str, confidence: float, runs: bool, words: str, rule: str) -> None:
    found = said(POLICY.rule_for(Invocation(tool, {})), confidence, 0.2)
    assert (found.runs, words in found.why, found.rule) == (runs, True, rule)
