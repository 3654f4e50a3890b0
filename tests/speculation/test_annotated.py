"""Rules that believe what a server says of its tools, rules about approval, and who learns of a guess."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.admission import admit
from paste_proxy.speculation.hints import Hints, agreed
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.rules import Effect
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import Asked, Destination, Launch, Mode, Predicted, Reason, Run
from paste_proxy.speculation.utility import Worth

from .playbook import done, limits, line

RULES = """
[[rule]]
server = "notes"
tool = "*"
effect = "annotated"
reads = ["notes"]
expected_s = 1

[[rule]]
server = "disk"
tool = "*"
effect = "annotated"
destination = "local"
reuse_s = 10

[[rule]]
tool = "pay"
effect = "read"
approval = true

[[rule]]
tool = "search"
effect = "read"
destination = "third-party"

[[rule]]
tool = "list"
effect = "read"
destination = "local"

[[rule]]
tool = "unsaid"
effect = "read"
"""
LOOK = Invocation("notes/look", {})


def parsed() -> Policy:
    return Policy.parse(RULES, "rules.toml")


def test_a_tool_is_a_write_until_its_server_says_that_it_reads() -> None:
    policy = parsed()
    before = policy.rule_for(LOOK)
    assert (before.effect, before.allowed, before.writes) == (Effect.WRITE, False, frozenset({"notes"}))
    assert not policy.annotated("notes/look", Hints(read_only=True))
    now = policy.rule_for(LOOK)
    assert (now.effect, now.allowed, now.writes) == (Effect.READ, True, frozenset())
    assert policy.rule_for(Invocation("notes/other", {})).effect is Effect.WRITE


@pytest.mark.parametrize("said", [None, Hints(), Hints(read_only=False, open_world=False)])
def test_it_is_one_again_when_that_is_said_no_more(said: Hints | None) -> None:
    policy = parsed()
    policy.annotated("notes/look", Hints(read_only=True))
    assert policy.annotated("notes/look", said)
    assert policy.rule_for(LOOK).effect is Effect.WRITE
    assert not policy.annotated("notes/look", said)


def test_what_may_reach_out_is_not_local() -> None:
    policy = parsed()
    policy.annotated("disk/read", Hints(read_only=True, open_world=False))
    policy.annotated("disk/fetch", Hints(read_only=True))
    read, fetch = policy.rule_for(Invocation("disk/read", {})), policy.rule_for(Invocation("disk/fetch", {}))
    assert (read.effect, read.reuse_s) == (Effect.READ, 10)
    assert (fetch.effect, fetch.reuse_s) == (Effect.WRITE, None)


def test_a_server_that_no_such_rule_names_is_never_believed() -> None:
    policy = parsed()
    for tool in ("other/look", "list", "pay", "unsaid"):
        before = policy.rule_for(Invocation(tool, {}))
        assert not policy.annotated(tool, Hints(read_only=True, open_world=False))
        assert policy.rule_for(Invocation(tool, {})) == before
        assert not policy.annotated(tool, Hints())


def test_of_several_connections_the_worst_holds() -> None:
    good, open_one = Hints(read_only=True, open_world=False), Hints(read_only=True)
    assert agreed([good, good]) == good
    assert agreed([good, open_one]) == open_one
    assert agreed([good, Hints(open_world=False)]) == Hints(open_world=False)
    assert agreed([]) == Hints()


def scheduler_of(policy: Policy) -> Scheduler:
    return Scheduler(policy, limits(), Mode.SPECULATE, {})


def guessed(calls: Iterable[Invocation]) -> Predicted:
    candidates = tuple(Candidate(invocation=call, confidence=0.9, source="test") for call in calls)
    return Predicted(session="s", candidates=candidates)


def test_a_call_that_rules_tell_from_others_is_ruled_anew_once_its_server_says_something_else() -> None:
    policy = Policy.parse(
        '[[rule]]\nserver = "notes"\ntool = "look"\nwhen = { at = "a*" }\neffect = "annotated"\n', "test"
    )
    call = Invocation("notes/look", {"at": "attic"})
    assert not policy.rule_for(call).allowed
    policy.annotated("notes/look", Hints(read_only=True))
    assert policy.rule_for(call).allowed


@pytest.mark.parametrize("ready", [True, False])
def test_a_job_answers_nothing_once_its_tool_may_have_written(ready: bool) -> None:
    policy = parsed()
    policy.annotated("notes/look", Hints(read_only=True))
    scheduler = scheduler_of(policy)
    (launch,) = scheduler.step(guessed([LOOK]), 0)
    assert isinstance(launch, Launch)
    if ready:
        scheduler.step(done(launch.job, "seen"), 1)
    policy.annotated("notes/look", Hints())
    commands = scheduler.step(Asked(call=7, session="s", invocation=LOOK), 2)
    assert [line(command) for command in commands][-1] == "run 7"
    assert Run(call=7) in commands


def decision(
    tool: str, destinations: frozenset[Destination] = frozenset(Destination), confidence: float = 0.9
) -> object:
    candidate = Candidate(invocation=Invocation(tool, {}), confidence=confidence, source="test")
    bounds = replace(limits(), destinations=destinations)
    worth = Worth(benefit_s=1, utility=1, expected_s=1)
    decided = admit(candidate, parsed().rule_for(candidate.invocation), worth, bounds, Mode.SPECULATE)
    return decided if isinstance(decided, Reason) else None


def test_what_is_unlikely_is_refused_for_that_whatever_the_policy_says() -> None:
    assert [decision(tool, confidence=0.01) for tool in ("pay", "unheard_of", "list")] == [Reason.CONFIDENCE] * 3
    assert [decision(tool) for tool in ("pay", "unheard_of", "list")] == [Reason.APPROVAL, Reason.POLICY, None]


def test_what_a_person_is_asked_about_is_never_run_ahead() -> None:
    ruling = parsed().rule_for(Invocation("pay", {}))
    assert (ruling.effect, ruling.allowed, ruling.approval) == (Effect.READ, False, True)
    assert decision("pay") is Reason.APPROVAL


def test_a_guess_goes_only_where_the_config_lets_guesses_go() -> None:
    assert {decision(tool) for tool in ("search", "list", "unsaid")} == {None}
    near = frozenset({Destination.LOCAL, Destination.FIRST_PARTY})
    assert decision("list", near) is None
    assert decision("search", near) is Reason.DESTINATION
    assert decision("unsaid", near) is Reason.DESTINATION
    assert decision("list", frozenset()) is Reason.DESTINATION


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('tool = "t"\neffect = "read"\napproval = true\nspeculate = true', "speculate"),
        ('tool = "t"\neffect = "write"\napproval = true\nstage = true', "stage"),
        ('tool = "t"\neffect = "read"\napproval = true\nreuse_s = 5', "reuse_s"),
        ('tool = "t"\neffect = "read"\napproval = 1', "approval"),
        ('tool = "t"\neffect = "read"\ndestination = "home"', "destination"),
        ('tool = "t"\neffect = "annotated"', "effect"),
        ('server = "*"\ntool = "t"\neffect = "annotated"', "effect"),
        ('tool = ["a/t", "??*/t"]\neffect = "annotated"', "effect"),
        ('server = "a"\ntool = "t"\neffect = "annotated"\nstage = true', "stage"),
        ('server = ["a", 1]\ntool = "t"\neffect = "read"', "server"),
        ('server = []\ntool = "t"\neffect = "read"', "server"),
        ('server = ["a"]\ntool = "b/t"\neffect = "read"', "tool"),
    ],
)
def test_a_rule_that_contradicts_itself_is_refused_with_its_place(text: str, where: str) -> None:
    with pytest.raises(InputFault) as fault:
        Policy.parse(f"[[rule]]\n{text}\n", "my.toml")
    assert fault.value.where == f"my.toml: rule 1: {where}"


def test_a_rule_may_name_several_servers() -> None:
    policy = Policy.parse('[[rule]]\nserver = ["git", "*-git"]\ntool = ["a", "b"]\neffect = "read"\n', "x")
    assert [policy.rule_for(Invocation(tool, {})).allowed for tool in ("git/a", "mcp-git/b", "github/a", "a")] == [
        True,
        True,
        False,
        False,
    ]
