"""The `same` table of a rule."""

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.sameness.lines import Ends, Range
from paste_proxy.speculation.sameness.shell import Shell


def policy(same: str) -> Policy:
    return Policy.parse(f'[[rule]]\ntool = "t"\neffect = "read"\nsame = {same}', "x.toml")


def test_what_a_table_says() -> None:
    same = policy(
        "{ ignore = ['a'], defaults = { b = [1] }, seconds = { c = 0.001 }, at_most = { d = 9 }, "
        "shell = { command = 'e' }, lines = { from = 'f', count = 'g', numbered = true, most = 7 } }"
    )
    said = same.rule_for(Invocation("t", {})).same
    assert (said.ignore, said.defaults) == (frozenset({"a"}), {"b": [1]})
    assert (said.seconds, said.at_most, said.shell) == ({"c": 0.001}, {"d": 9.0}, Shell("e"))
    assert said.lines == Range(start="f", count="g", numbered=True, most=7)
    assert policy("{ lines = { head = 'h' } }").rule_for(Invocation("t", {})).same.lines == Ends("h", "")


def test_a_core_is_what_is_left() -> None:
    ruled = policy("{ ignore = ['why'], defaults = { deep = false }, seconds = { wait = 1 } }")
    asked = Invocation("t", {"id": 1, "why": "x", "deep": False, "wait": 5})
    assert ruled.core(asked) == Invocation("t", {"id": 1})
    other = Invocation("t", {"id": 1, "deep": 0, "wait": "long"})
    assert ruled.core(other) == other
    assert ruled.core(Invocation("u", {"why": "x"})) == Invocation("u", {"why": "x"})


def test_an_answer_below_every_bound_is_whole() -> None:
    same = policy("{ at_most = { chars = 10 } }").rule_for(Invocation("t", {})).same
    asked, core = Invocation("t", {"chars": 8}), Invocation("t", {})
    assert same.core(asked) == core
    assert same.derived(asked, core, ToolResult(body=b"1234567"), 0) == ToolResult(body=b"1234567")
    assert same.derived(asked, core, ToolResult(body=b"12345678"), 0) is None
    assert same.derived(Invocation("t", {"chars": 80}), core, ToolResult(body=b"1234567890"), 0) is None


@pytest.mark.parametrize(
    ("same", "key"),
    [
        ("7", ""),
        ("{ ignores = ['a'] }", ": ignores"),
        ("{ ignore = 'a' }", ": ignore"),
        ("{ ignore = [''] }", ": ignore"),
        ("{ defaults = 1 }", ".defaults"),
        ("{ defaults = { a = 2020-01-01 } }", ".defaults.a"),
        ("{ seconds = { a = 0 } }", ".seconds: a"),
        ("{ at_most = { a = 'x' } }", ".at_most: a"),
        ("{ lines = {} }", ".lines"),
        ("{ lines = { head = 1 } }", ".lines: head"),
        ("{ lines = { head = 'a', from = 'b' } }", ".lines: from"),
        ("{ lines = { from = 'a', count = 'b', numbered = 1 } }", ".lines: numbered"),
        ("{ lines = { from = 'a', count = 'b', most = -1 } }", ".lines: most"),
        ("{ shell = { folder = 'a' } }", ".shell: command"),
        ("{ shell = { command = 'a', cwd = 'b' } }", ".shell: cwd"),
    ],
)
def test_what_is_malformed_is_named(same: str, key: str) -> None:
    with pytest.raises(InputFault) as fault:
        policy(same)
    assert fault.value.where == f"x.toml: rule 1: same{key}"
