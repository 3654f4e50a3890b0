"""Rules about some calls of a tool: by the values of their arguments, and by what their commands run."""

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.speculation.policy import Policy

SHELL = 'same = { shell = { command = "command", folder = "cwd" } }'
RULES = f"""
[[rule]]
tool = "ask"
when = {{ "/options/mode" = ["r", "rb"], path = "src/*" }}
effect = "read"

[[rule]]
tool = "ask"
when = {{ dry = true, "/pages/0" = 1 }}
effect = "read"

[[rule]]
tool = "run"
commands = "reading"
effect = "read"
{SHELL}

[[rule]]
tool = "run"
commands = ["npm test *", "make lint", "pytest*  -q"]
effect = "write"
stage = true
writes = ["workspace"]
{SHELL}

[[rule]]
tool = "run"
effect = "write"
writes = ["*"]
{SHELL}
"""
POLICY = Policy.parse(RULES, "rules.toml")


def place(tool: str, **arguments: Json) -> str:
    rule = POLICY.rule_for(Invocation(tool, arguments)).rule
    return "" if rule is None else rule.place.rpartition(" ")[2]


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"options": {"mode": "r"}, "path": "src/a.py"}, "1"),
        ({"options": {"mode": "rb"}, "path": "src/a/b.py", "more": 1}, "1"),
        ({"options": {"mode": "w"}, "path": "src/a.py"}, ""),
        ({"options": {"mode": "r"}, "path": "lib/a.py"}, ""),
        ({"options": "r", "path": "src/a.py"}, ""),
        ({"options": {"mode": None}, "path": "src/a.py"}, ""),
        ({"path": "src/a.py"}, ""),
        ({"dry": True, "pages": [1, 2]}, "2"),
        ({"dry": True, "pages": [1.0]}, "2"),
        ({"dry": "true", "pages": [1]}, ""),
        ({"dry": True, "pages": ["1"]}, ""),
        ({"dry": True, "pages": [True]}, ""),
        ({"dry": True, "pages": {"0": 1}}, "2"),
        ({"options": {"mode": "r"}, "path": "src/../../etc/shadow"}, ""),
        ({"options": {"mode": "r"}, "path": "src/.."}, ""),
        ({"options": {"mode": "r"}, "path": "src/a\\..\\..\\b"}, ""),
        ({"options": {"mode": "r"}, "path": "src/a..b"}, "1"),
        ({"options": {"mode": "r"}, "path": ["src/a"]}, ""),
        ({"dry": 1, "pages": [1]}, ""),
        ({"dry": True, "pages": [2, 1]}, ""),
        ({"dry": True, "pages": []}, ""),
        ({}, ""),
    ],
)
def test_a_rule_may_speak_of_some_values_only(arguments: dict[str, Json], rule: str) -> None:
    assert place("ask", **arguments) == rule


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("git status", "3"),
        ("grep -rn x src | head -3", "3"),
        ("cd src && git log 2>&1", "3"),
        ("npm test", "4"),
        ("npm test -- --watch=false", "4"),
        ("cd web && npm test 2>&1 | tail -20", "4"),
        ("make lint", "4"),
        ("make lint all", "5"),
        ("pytest-3 -q", "4"),
        ("pytest -q -x", "5"),
        ("npm test && rm -rf /", "5"),
        ("npm test; curl evil", "5"),
        ("npm test $(curl evil)", "5"),
        ("npm test > out", "5"),
        ("npm test | sh", "5"),
        ("npm testing", "5"),
        ("FOO=1 npm test", "5"),
        ("pytest=1 -q", "5"),
        ("git push", "5"),
        ("", "5"),
    ],
)
def test_a_rule_may_speak_of_some_commands_only(command: str, rule: str) -> None:
    assert place("run", command=command) == rule


@pytest.mark.parametrize(
    "more",
    [
        {"env": {"LD_PRELOAD": "x"}, "shell": "/tmp/evil"},
        {"shell": "/tmp/evil"},
        {"stdin": None},
        {"cwd": ["/"]},
        {"login": True},
    ],
)
@pytest.mark.parametrize("command", ["ls", "make lint"])
def test_what_nobody_knows_the_meaning_of_beside_a_command_may_change_it(command: str, more: dict[str, Json]) -> None:
    assert place("run", command=command, **more) == "5"


def test_what_the_core_knows_may_be_beside_a_command() -> None:
    same = (
        'same = { shell = { command = "command", folder = "cwd" }, ignore = ["description"], '
        "defaults = { login = false }, seconds = { timeout = 1 }, at_most = { most = 9 } }"
    )
    policy = Policy.parse(f'[[rule]]\ntool = "run"\ncommands = "reading"\neffect = "read"\n{same}\n', "x")
    known: dict[str, Json] = {"description": {}, "login": False, "timeout": None, "most": 3, "cwd": "a"}
    assert policy.rule_for(Invocation("run", {"command": "ls", **known})).allowed
    assert not policy.rule_for(Invocation("run", {"command": "ls", **known, "login": True})).allowed


@pytest.mark.parametrize(
    ("more", "allowed"),
    [
        ({"login": True, "host": "a", "a/b": 1}, True),
        ({"login": True, "host": {"any": "thing"}, "a/b": 1}, True),
        ({"login": True, "a/b": 1}, True),
        ({"login": "yes", "a/b": 1}, False),
        ({"login": True, "a/b": 1, "shell": "sh"}, False),
        ({"login": True, "a/b": 1, "session": "s"}, False),
        ({"login": True, "a/b": 1, "options": {"mode": "r"}}, False),
    ],
)
def test_what_the_rule_itself_names_may_be_beside_a_command(more: dict[str, Json], allowed: bool) -> None:
    """Not what it names a part of: nobody has said what the rest of it does."""
    rule = (
        '[[rule]]\ntool = "run"\ncommands = "reading"\neffect = "read"\nreads = ["host:{host}", "own:{session}"]\n'
        f'when = {{ login = [true, false], "/a~1b" = 1 }}\n{SHELL}\n'
    )
    policy = Policy.parse(rule, "x")
    assert policy.rule_for(Invocation("run", {"command": "ls", **more})).allowed is allowed
    partly = Policy.parse(rule.replace('"/a~1b" = 1', '"/a~1b" = 1, "/options/mode" = "r"'), "x")
    whole: dict[str, Json] = more | {"options": {"mode": "r"}}
    assert not partly.rule_for(Invocation("run", {"command": "ls", **whole})).allowed


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("cd /dev && cat kmsg | wc", None),
        ("cd /proc/self && cat fd/0 | wc", None),
        ("cat kmsg", "/dev"),
        ("cd self && cat fd/0", "/proc"),
    ],
)
def test_reading_counts_the_folder(command: str, folder: Json) -> None:
    assert place("run", command=command, cwd=folder) == "5"


@pytest.mark.parametrize(
    ("globs", "value", "fits"),
    [
        ("*", None, False),
        ("*", [], False),
        ("*", {"a": 1}, False),
        ("*", 1, False),
        ("*", "", True),
        ("../*", "../a", True),
        ("1", "1", True),
        ("1", 1, False),
    ],
)
def test_a_glob_fits_texts_only(globs: str, value: Json, fits: bool) -> None:
    policy = Policy.parse(f'[[rule]]\ntool = "t"\neffect = "read"\nwhen = {{ a = "{globs}" }}\n', "x")
    assert policy.rule_for(Invocation("t", {"a": value})).allowed is fits


@pytest.mark.parametrize(
    ("step", "leads"), [("1", True), ("01", False), ("\u0661", False), ("-", False), ("9" * 5000, False)]
)
def test_a_place_in_a_list_is_a_number_as_pointers_write_it(step: str, leads: bool) -> None:
    policy = Policy.parse(f'[[rule]]\ntool = "t"\neffect = "read"\nwhen = {{ "/a/{step}" = "x" }}\n', "x")
    assert policy.rule_for(Invocation("t", {"a": ["x", "x"]})).allowed is leads


def test_one_and_true_are_not_alike() -> None:
    first, second = (f'[[rule]]\ntool = "t"\neffect = "read"\nwhen = {{ a = {value} }}\n' for value in ("1", "true"))
    rules = Policy.parse(first + second, "x").rules
    assert rules[0].conditions != rules[1].conditions


def test_a_rule_may_leave_git_out_of_what_reads() -> None:
    files = f'[[rule]]\ntool = "run"\ncommands = "reading files"\neffect = "read"\n{SHELL}\n'
    policy = Policy.parse(files, "x")
    lines = ("ls -l", "git log", "rm a")
    assert [policy.rule_for(Invocation("run", {"command": line})).allowed for line in lines] == [True, False, False]
    quietly = Policy.parse(files.replace("reading files", "reading quietly"), "x")
    assert [quietly.rule_for(Invocation("run", {"command": line})).allowed for line in lines] == [True, True, False]


@pytest.mark.parametrize("command", [None, 3, ["git", "status"], {"git": "status"}])
def test_what_is_no_command_is_none_of_them(command: Json) -> None:
    assert place("run", command=command) == "5"


def test_a_call_that_no_condition_meets_is_as_one_without_a_rule() -> None:
    ruling = POLICY.rule_for(Invocation("ask", {}))
    assert (ruling.rule, ruling.allowed, ruling.writes) == (None, False, frozenset({"*"}))


def test_of_a_tool_is_said_what_some_call_of_it_may() -> None:
    run, ask, other = POLICY.of_tool("run"), POLICY.of_tool("ask"), POLICY.of_tool("other")
    assert (run.named, run.allowed, [ruling.staged for ruling in run.rulings]) == (True, True, [False, True, False])
    assert (ask.named, ask.allowed) == (True, True)
    assert (other.named, other.allowed) == (False, False)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("when = {}", "when"),
        ('when = "a"', "when"),
        ("when = { a = [] }", "when.a"),
        ("when = { a = { b = 1 } }", "when.a"),
        ('when = { a = ["x", ["y"]] }', "when.a"),
        ('when = { "/" = "x" }', "when./"),
        ('when = { "a~2" = "x" }', "when.a~2"),
        ('commands = "reading"', "commands"),
        (f"commands = []\n{SHELL}", "commands"),
        (f'commands = ""\n{SHELL}', "commands"),
        (f'commands = ["ls", 3]\n{SHELL}', "commands"),
    ],
)
def test_a_malformed_condition_is_refused_with_its_place(text: str, where: str) -> None:
    with pytest.raises(InputFault) as fault:
        Policy.parse(f'[[rule]]\ntool = "t"\neffect = "read"\n{text}\n', "my.toml")
    assert fault.value.where == f"my.toml: rule 1: {where}"
