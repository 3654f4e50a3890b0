"""What recorded sessions show of tools, and that a draft of rules claims nothing."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, ToolCall, ToolOutput
from paste_proxy.events.values import Json
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.rule_drafts import drafted
from paste_proxy.speculation.rules import Effect
from paste_proxy.speculation.tool_use import ToolUse, tool_uses


def session(*calls: tuple[str, dict[str, Json], Json]) -> list[Event]:
    def events() -> Iterator[Event]:
        for number, (tool, arguments, output) in enumerate(calls):
            call, name = Invocation(tool, arguments), f"c{number}"
            yield ToolCall(session="s", ts=None, call_id=name, invocation=call)
            yield ToolOutput(
                session="s", ts=None, call_id=name, tool=tool, output=output, status=Status.OK, duration_s=0.5
            )

    return list(events())


def used(*calls: tuple[str, dict[str, Json], Json]) -> dict[str, ToolUse]:
    return {use.tool: use for use in tool_uses([session(*calls)])}


Calls = list[tuple[str, dict[str, Json], Json]]

SHOP: Calls = [
    ("get_order", {"id": 1}, "open"),
    ("get_order", {"id": 1}, "open"),
    ("cancel", {"id": 1}, "done"),
    ("get_order", {"id": 1}, "cancelled"),
    ("track", {}, 7),
    ("get_order", {"id": 1}, "cancelled"),
]


def test_what_was_seen_of_a_tool() -> None:
    uses = used(*SHOP)
    order, cancel, track = uses["get_order"], uses["cancel"], uses["track"]
    assert (order.calls, order.seconds, dict(order.arguments)) == (4, [0.5] * 4, {"id": 4})
    assert (order.again, order.again_same) == (3, 2)
    assert (cancel.between, cancel.between_same) == (1, 0)
    assert (track.between, track.between_same) == (1, 1)


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("get_order", "read"),
        ("getOrder", "read"),
        ("WebSearch", "read"),
        ("orders/list-all", "read"),
        ("get_and_delete", "write"),
        ("updateOrder", "write"),
        ("settle", ""),
        ("readiness", ""),
    ],
)
def test_what_a_name_says(tool: str, says: str) -> None:
    assert ToolUse(tool).name_says == says


def test_a_tool_after_which_others_answer_differently_does_not_seem_to_read() -> None:
    uses = used(("look", {}, 1), ("get_next", {}, 2), ("look", {}, 3))
    assert (uses["get_next"].name_says, uses["get_next"].seems_a_read) == ("read", False)
    assert uses["look"].seems_a_read


def test_a_shell_is_known_by_its_commands_and_its_habits_are_counted() -> None:
    tests: Calls = [("Bash", {"command": f"cd web && npm test -- {part} 2>&1 | tail -5"}, "ok") for part in "abc"]
    uses = used(
        *tests,
        ("Bash", {"command": "git status"}, ""),
        ("Bash", {"command": "python -m pytest -q"}, ""),
        ("Bash", {"command": "make && make install"}, ""),
    )
    shell = uses["Bash"]
    assert (shell.command, shell.reading, shell.seems_a_read) == ("command", 1, False)
    assert shell.patterns() == {("npm", "test"): 3, ("python", "-m", "pytest"): 1}


def test_where_its_commands_run_counts() -> None:
    uses = used(
        ("sh", {"command": "cat fd/0 | wc", "workdir": "/proc/self"}, ""),
        ("sh", {"command": "cd /dev && cat kmsg | wc"}, ""),
        ("sh", {"command": "cat notes | wc", "workdir": "/home/a", "login": True}, ""),
    )
    assert (uses["sh"].folder, uses["sh"].reading) == ("workdir", 1)
    draft = drafted(list(uses.values()), 1)
    assert 'shell = { command = "command", folder = "workdir" }' in draft
    assert "means no call with login, unless" in draft


def confirmed(text: str) -> str:
    """The draft with all its rules in force."""
    return re.sub(r"(?m)^#(?=\[\[|\w+ = )", "", text)


SHELL: Calls = [("Bash", {"command": "npm test"}, "ok")] * 3
CALLS: Calls = [*SHOP, ("orders/find", {"q": "x"}, []), *SHELL]


def test_a_draft_lets_nothing_be_run_ahead_and_takes_nothing_for_a_read() -> None:
    policy = Policy.parse(drafted(tool_uses([session(*CALLS)]), 1), "draft")
    for tool, arguments, _ in CALLS:
        ruling = policy.rule_for(Invocation(tool, arguments))
        unruled = ruling.rule is None and not policy.of_tool(tool).named
        assert unruled or (ruling.effect, ruling.writes) == (Effect.WRITE, frozenset({"*"}))
        assert not ruling.allowed


def test_what_a_person_confirms_is_a_policy() -> None:
    policy = Policy.parse(confirmed(drafted(tool_uses([session(*CALLS)]), 1)), "draft")
    assert policy.rule_for(Invocation("get_order", {})).effect is Effect.READ
    assert policy.rule_for(Invocation("orders/find", {})).reads == frozenset({"orders"})
    assert policy.rule_for(Invocation("Bash", {"command": "ls"})).effect is Effect.READ
    assert policy.rule_for(Invocation("Bash", {"command": "npm test"})).rule is not None
    assert policy.rule_for(Invocation("cancel", {})).effect is Effect.WRITE
    assert not any(rule.ahead for rule in policy.rules)


NAMES = st.one_of(st.text(max_size=8), st.text('a/*?[]"\\#\n\x7f\u2028', max_size=6))


@given(st.lists(st.tuples(NAMES, st.dictionaries(NAMES, st.text(max_size=5) | st.none(), max_size=2)), max_size=4))
def test_whatever_tools_are_called_the_draft_is_a_policy(calls: list[tuple[str, dict[str, Json]]]) -> None:
    text = drafted(tool_uses([session(*((tool, arguments, 1) for tool, arguments in calls))]), 1)
    for draft in (text, confirmed(text)):
        policy = Policy.parse(draft, "draft")
        assert not any(rule.ahead for rule in policy.rules)
        assert not any(rule.effect is Effect.READ for rule in Policy.parse(text, "draft").rules)
