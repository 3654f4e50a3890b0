"""All that is wrong with a policy is told at once, and which rules can never decide."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.share import share
from paste_proxy.speculation.rule_check import _within, checked, overshadowed
from paste_proxy.speculation.rule_file import read_rules

FAULTY = """
default = "allow"
extra = 1

[[rule]]
tool = "get x"
effect = "reads"
ttl_s = -1
speculat = true
when = { a = [], b = "x", c = [[1]] }

[[rule]]
tool = "fine"
effect = "read"

[[rule]]
effect = "write"
speculate = true
reuse_s = 5
same = { shell = 3 }
commands = "reading"

[[rule]]
server = "*"
tool = "t"
effect = "annotated"
stage = true
"""


def test_every_fault_is_told() -> None:
    rules, faults = checked(FAULTY, "p")
    assert [rule.place for rule in rules] == ["p: rule 2"]
    assert sorted(fault.where.removeprefix("p: ") for fault in faults) == [
        "default",
        "extra",
        "rule 1: effect",
        "rule 1: speculat",
        "rule 1: tool",
        "rule 1: ttl_s",
        "rule 1: when.a",
        "rule 1: when.c",
        "rule 3: reuse_s",
        "rule 3: same.shell",
        "rule 3: speculate",
        "rule 3: tool",
        "rule 4: effect",
        "rule 4: stage",
    ]


@pytest.mark.parametrize("text", ["[[rule]", "rule = 3", "rule = [3]", 'rule = "x"'])
def test_what_is_no_file_of_rules_has_that_fault(text: str) -> None:
    rules, faults = checked(text, "p")
    assert (rules, len(faults)) == ([], 1)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["tool", "server", "effect", "stage", "when", "commands", "same", "reuse_s", "approval"]),
            st.sampled_from(
                ["1", '"x"', '"read"', '"write"', "true", "[]", "{}", "{ a = [] }", "{ shell = { x = 1 } }"]
            ),
        ),
        max_size=6,
        unique_by=lambda pair: pair[0],
    )
)
def test_any_rule_is_sound_or_has_faults(pairs: list[tuple[str, str]]) -> None:
    text = "[[rule]]\n" + "\n".join(f"{key} = {value}" for key, value in pairs)
    rules, faults = checked(text, "p")
    assert bool(rules) is not bool(faults)


def hidden(text: str) -> list[tuple[str, str]]:
    return [(rule.place[-1], by.place[-1]) for rule, by in overshadowed(read_rules(text, "p"))]


def rule(head: str) -> str:
    return f'[[rule]]\n{head}\neffect = "read"\n'


def test_a_rule_behind_one_that_takes_all_its_calls_never_decides() -> None:
    assert hidden(rule('tool = "get_*"') + rule('tool = "get_a"')) == [("2", "1")]
    assert hidden(rule('tool = ["a", "b"]') + rule('tool = "b"')) == [("2", "1")]
    assert hidden(rule('tool = "a"') + rule('tool = "b"') + rule('tool = ["a", "b"]')) == [("3", "1")]
    assert hidden(rule('server = "s*"\ntool = "*"') + rule('tool = "srv/x*"')) == [("2", "1")]
    assert hidden(rule('tool = "a"\nwhen = { x = 1 }') + rule('tool = "a"\nwhen = { x = 1 }')) == [("2", "1")]


def test_a_rule_that_may_decide_something_is_left_alone() -> None:
    assert hidden(rule('tool = "get_a"') + rule('tool = "get_*"')) == []
    assert hidden(rule('tool = "a"') + rule('tool = ["a", "b"]')) == []
    assert hidden(rule('tool = "*"') + rule('tool = "s/a"') + rule('tool = "*/a"')) == []
    assert hidden(rule('tool = "a"\nwhen = { x = 1 }') + rule('tool = "a"')) == []
    assert hidden(rule('tool = "a"\nwhen = { x = 1 }') + rule('tool = "a"\nwhen = { x = 2 }')) == []
    assert hidden(rule('tool = "get_?"') + rule('tool = "get_*"')) == []


@pytest.mark.parametrize("path", sorted(share("policies").glob("*.toml")), ids=lambda path: path.stem)
def test_no_rule_that_comes_along_is_overshadowed(path: Path) -> None:
    text = path.read_text("utf-8")
    assert hidden(text) == []


GLOBS = st.text("ab*?", min_size=1, max_size=5)


@given(GLOBS, GLOBS, st.lists(st.text("abc", max_size=5), max_size=30))
def test_a_glob_within_another_names_nothing_that_the_other_does_not(narrow: str, wide: str, texts: list[str]) -> None:
    if _within(narrow, wide):
        assert all(fnmatchcase(text, wide) for text in texts if fnmatchcase(text, narrow))
