"""How a call is changed to be rehearsed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.speculation.hints import Hints, agreed
from paste_proxy.speculation.plain_commands import pipeline
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.weighed import weighed

RULES = """
[[rule]]
tool = "deploy"
effect = "write"
rehearse = { set = { dry_run = true, "/options/target" = "staging" } }

[[rule]]
tool = "order"
effect = "write"
approval = true
rehearse = { set = { test = 1, "/a~1b" = [1, { c = "d" }] } }

[[rule]]
tool = "run"
commands = ["git push *", "npm publish", "kubectl apply *", "terraform *"]
effect = "write"
same = { shell = { command = "command", folder = "cwd" } }
rehearse = { option = "--dry-run" }

[[rule]]
tool = "put"
commands = ["put *"]
effect = "write"
same = { shell = { command = "line" } }
rehearse = { option = "-n --quiet", set = { mode = "test" } }
"""
POLICY = Policy.parse(RULES, "test")


def rehearsed(tool: str, **arguments: Json) -> dict[str, Json] | None:
    invocation = Invocation(tool, arguments)
    rule = POLICY.rule_for(invocation).rule
    assert rule is not None
    assert rule.rehearse is not None
    changed = rule.rehearse.of(invocation, rule.conditions, rule.same)
    return None if changed is None else changed.arguments


def command(text: str) -> Json:
    changed = rehearsed("run", command=text)
    return None if changed is None else changed["command"]


def test_what_is_to_be_set_is_set_whatever_stood_there() -> None:
    target: dict[str, Json] = {"target": "live", "force": True}
    assert rehearsed("deploy", app="a", dry_run=False, options=target) == {
        "app": "a",
        "dry_run": True,
        "options": {"target": "staging", "force": True},
    }
    assert target == {"target": "live", "force": True}, "the call itself stays as it is"
    assert rehearsed("order") == {"test": 1, "a/b": [1, {"c": "d"}]}


@pytest.mark.parametrize("options", [None, "live", [], 3])
def test_a_value_that_has_no_place_makes_no_rehearsal(options: Json) -> None:
    assert rehearsed("deploy", dry_run=True, options=options) is None


def test_a_call_that_is_of_that_form_already_is_not_rehearsed() -> None:
    assert rehearsed("deploy", dry_run=True, options={"target": "staging"}) is None


def test_an_option_stands_before_all_that_the_call_gives_its_program() -> None:
    assert command("git push origin main") == "git push --dry-run origin main"
    assert command("git push -o value -- --not-an-option") == "git push --dry-run -o value -- --not-an-option"
    assert command("git push") == "git push --dry-run"
    assert command("npm publish") == "npm publish --dry-run"
    assert command("kubectl apply -f 'a b.yaml' -m") == "kubectl apply --dry-run -f 'a b.yaml' -m"
    assert rehearsed("put", line="put x 2>&1") == {"line": "put -n --quiet x", "mode": "test"}


def test_it_is_the_core_of_a_command_that_is_rehearsed() -> None:
    changed = rehearsed("run", command="cd web && git push origin 2>&1 | tail -3")
    assert changed == {"command": "git push --dry-run origin", "cwd": "web"}


@pytest.mark.parametrize(
    "text",
    [
        "git push --no-dry-run",
        "git push origin --dry-run=false",
        "terraform apply --dry-run",
        "terraform apply -x--dry-run",
    ],
)
def test_a_command_that_speaks_of_the_option_itself_is_not_rehearsed(text: str) -> None:
    assert command(text) is None


@pytest.mark.parametrize("text", ["git push | terraform apply", "npm publish | git push x"])
def test_several_programs_are_not_rehearsed(text: str) -> None:
    assert command(text) is None


words = st.text("ab-./=:'\" *^", min_size=1, max_size=8)


@given(st.lists(words, max_size=5).map(" ".join))
def test_nothing_but_the_option_is_changed(rest: str) -> None:
    text = f"git push {rest}"
    if POLICY.rule_for(Invocation("run", {"command": text})).rule is None:
        return
    if (changed := command(text)) is not None:
        assert isinstance(changed, str)
        ((*argv,),) = pipeline(changed) or ()
        assert argv[:3] == ["git", "push", "--dry-run"]
        core = POLICY.core(Invocation("run", {"command": text})).arguments["command"]
        assert isinstance(core, str)
        assert pipeline(core) == (("git", "push", *argv[3:]),)


@pytest.mark.parametrize(
    ("keys", "where", "found"),
    [
        ("rehearse = true", "rehearse", "True"),
        ("rehearse = {}", "rehearse", "{}"),
        ("rehearse = { sets = { a = 1 } }", "rehearse: sets", "unknown key"),
        ("rehearse = { set = {} }", "rehearse: set", "{}"),
        ("rehearse = { set = { '' = 1 } }", "rehearse: set.", "''"),
        ("rehearse = { set = { '/a/~2' = 1 } }", "rehearse: set./a/~2", "'/a/~2'"),
        ("rehearse = { set = { a = 2026-01-01 } }", "rehearse: set.a", "datetime.date(2026, 1, 1)"),
        ("rehearse = { option = '--dry-run' }", "rehearse: option", "'--dry-run'"),
        ("rehearse = { option = 'dry' }\ncommands = ['a *']", "rehearse: option", "'dry'"),
        ("rehearse = { option = '--a; rm' }\ncommands = ['a *']", "rehearse: option", "'--a; rm'"),
        ("rehearse = { option = ['--a'] }\ncommands = ['a *']", "rehearse: option", "['--a']"),
        ("rehearse = { option = '-n' }\ncommands = 'reading'", "rehearse: option", "'-n'"),
        ("rehearse = { set = { a = 1 } }\nstage = true", "rehearse", "beside stage = true"),
    ],
)
def test_a_malformed_one_is_refused(keys: str, where: str, found: str) -> None:
    text = f'[[rule]]\ntool = "x"\neffect = "write"\nsame = {{ shell = {{ command = "c" }} }}\n{keys}'
    with pytest.raises(InputFault) as told:
        Policy.parse(text, "p.toml")
    assert (told.value.where, told.value.found) == (f"p.toml: rule 1: {where}", found)


def test_what_is_run_ahead_itself_is_not_rehearsed() -> None:
    text = '[[rule]]\ntool = "x"\neffect = "read"\nrehearse = { set = { a = 1 } }'
    with pytest.raises(InputFault, match="beside speculate = true"):
        Policy.parse(text, "p.toml")
    assert Policy.parse(f"{text}\nspeculate = false", "p.toml").rules[0].rehearse is not None


def test_of_several_connections_a_tool_is_known_to_take_what_all_of_them_list() -> None:
    one, other = Hints(arguments=frozenset({"a", "dry_run"})), Hints(arguments=frozenset({"a"}))
    assert agreed([one, one]).arguments == {"a", "dry_run"}
    assert agreed([one, other]).arguments == {"a"}
    assert agreed([]).arguments == frozenset()


def test_a_person_is_told_what_would_be_run() -> None:
    call = Invocation("run", {"command": "cd web && git push"})
    (told,) = weighed(POLICY, call, session="s", least=0.2).how
    assert told == 'to get ready for it, it may be run as {"command":"git push --dry-run","cwd":"web"}'
    assert weighed(POLICY, Invocation("deploy", {}), session="s", least=0.2).how == ()
