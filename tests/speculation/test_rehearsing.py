"""Calls that may not be run ahead, run in a changed form to get ready for them."""

from dataclasses import replace
from weakref import ref

import pytest

from paste_proxy.events.candidate import SEALED, Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome, Why
from paste_proxy.speculation.budgets.budgets import BudgetLimits
from paste_proxy.speculation.hints import Hints
from paste_proxy.speculation.limits import ServerCapacity
from paste_proxy.speculation.types import (
    Destination,
    JobEnded,
    Launch,
    Mode,
    ObservationLost,
    Predicted,
    SessionEnded,
    Settled,
    Tick,
)
from paste_proxy.tools.socket import JobResult

from .playbook import (
    RULES,
    Playbook,
    asked,
    broke,
    call_of,
    done,
    guess,
    limits,
    native_began,
    over,
    predicted,
    wrote,
)

OWN = """
[[rule]]
tool = "deploy"
effect = "write"
writes = ["shop"]
rehearse = { set = { dry_run = true } }
ttl_s = 30

[[rule]]
tool = "order"
effect = "write"
approval = true
destination = "first-party"
rehearse = { set = { test = true } }

[[rule]]
tool = "watched"
effect = "write"
mode = "observe"
rehearse = { set = { dry_run = true } }

[[rule]]
tool = "sure"
effect = "write"
min_confidence = 0.8
rehearse = { set = { dry_run = true } }

[[rule]]
tool = "box/look"
effect = "read"

[[rule]]
tool = "box/*"
effect = "write"
calls_per_session = 1
rehearse = { set = { dry_run = true } }

[[rule]]
tool = "show"
effect = "read"
reads = ["shop"]
same = { lines = { head = "head", tail = "tail" } }
speculate = false
rehearse = { set = { dry_run = true } }
"""


def playbook(**more: object) -> Playbook:
    return Playbook(rules=RULES + OWN, **more)  # type: ignore[arg-type]


def dry(text: str) -> Invocation:
    """What is run for a call."""
    call = call_of(text)
    return Invocation(call.tool, {**call.arguments, "dry_run": True})


def test_a_write_is_rehearsed_and_the_call_runs_as_if_it_had_not_been() -> None:
    tell = playbook()
    launched = tell.scheduler.step(predicted("deploy 1", scope="c"), 0)
    assert [(each.invocation, each.scope) for each in launched if isinstance(each, Launch)] == [(dry("deploy 1"), "c")]
    assert tell(2, done(1, "would deploy")) == []
    end, _ = tell.scheduler.step(asked(7, "deploy 1", scope="c"), 3)
    assert isinstance(end, Settled)
    assert (end.outcome, end.why, end.rehearsal) == (Outcome.DISCARDED, Why.REHEARSED, True)
    assert (end.ran_s, end.saved_s, end.bytes, end.invocation) == (2, 0, 12, dry("deploy 1"))
    assert tell(4, over(7)) == []


def test_the_refusal_is_told_as_ever() -> None:
    assert playbook()(0, predicted("deploy 1")) == ["refused deploy: policy", "rehearse 1 deploy"]
    assert playbook()(0, predicted("order 1")) == ["refused order: approval", "rehearse 1 order"]
    assert playbook()(0, predicted("show 1")) == ["refused show: policy", "rehearse 1 show"]


def test_its_result_answers_nobody_not_even_a_call_of_its_own_form() -> None:
    tell = playbook()
    tell(0, predicted("show 1"))
    tell(1, done(1))
    own = replace(asked(7, "show 1"), invocation=dry("show 1"))
    assert [type(each).__name__ for each in tell.scheduler.step(own, 2)] == ["Run"]
    tell(3, over(7))
    assert tell(4, asked(8, "show 1")) == ["1 discarded, ran 1, saved 0", "run 8"]
    assert tell(5, asked(9, "show 1")) == ["run 9"]


def test_a_call_joins_no_rehearsal_that_runs_but_ends_it() -> None:
    tell = playbook()
    tell(0, predicted("deploy 1"))
    assert tell(1, asked(7, "deploy 1")) == ["cancel 1", "1 preempted, ran 1, saved 0", "run 7"]
    assert tell(2, done(1)) == []


def test_a_call_with_the_same_core_ends_it_too() -> None:
    tell = playbook()
    tell(0, predicted("show 1"))
    tell(1, done(1))
    part = replace(asked(7, "show 1"), invocation=Invocation("show", {"id": "1", "head": 3}))
    told = tell.scheduler.step(part, 2)
    assert [each.why for each in told if isinstance(each, Settled)] == [Why.REHEARSED]


def test_one_call_is_rehearsed_once_while_that_is_good_for_something() -> None:
    tell = playbook()
    tell(0, predicted("deploy 1"))
    assert tell(1, predicted("deploy 1")) == ["refused deploy: policy"]
    tell(2, done(1))
    assert tell(3, predicted("deploy 1", "deploy 2")) == [
        "refused deploy: policy",
        "refused deploy: policy",
        "rehearse 2 deploy",
    ]
    assert tell(3, predicted("deploy 1", session="t"))[1:] == ["rehearse 3 deploy"]
    assert tell(29, Tick()) == []
    assert tell(30, Tick()) == ["1 discarded, ran 2, saved 0"]
    assert tell(30, predicted("deploy 1"))[1:] == ["rehearse 4 deploy"]


def rehearses(tell: Playbook, *candidates: Candidate | str) -> bool:
    """Whether these are rehearsed."""
    return any(line.startswith("rehearse") for line in tell(0, predicted(*candidates)))


@pytest.mark.parametrize(
    ("text", "confidence", "does"),
    [("deploy 1", 0.15, True), ("deploy 1", 0.14, False), ("sure 1", 0.8, True), ("sure 1", 0.79, False)],
)
def test_it_has_to_be_as_likely_as_what_is_run_ahead(text: str, confidence: float, does: bool) -> None:
    assert rehearses(playbook(), guess(text, confidence)) is does


def test_it_has_to_be_worth_it() -> None:
    assert not rehearses(playbook(), guess("deploy 1", expected_s=0.01))


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.OBSERVE])
def test_nothing_is_rehearsed_where_nothing_runs_ahead(mode: Mode) -> None:
    assert not rehearses(playbook(mode=mode), "deploy 1")
    assert not rehearses(playbook(), "watched 1")


def test_it_tells_nobody_who_may_not_learn_of_guesses() -> None:
    own = replace(limits(), destinations=frozenset({Destination.LOCAL, Destination.FIRST_PARTY}))
    assert rehearses(playbook(bounds=own), "order 1")
    assert not rehearses(playbook(bounds=own), "deploy 1")


def test_a_call_that_comes_now_is_rehearsed_only_if_a_person_is_asked_first() -> None:
    assert not rehearses(playbook(), guess("deploy 1", 0.98, SEALED))
    assert rehearses(playbook(), guess("order 1", 0.98, SEALED))


def test_a_call_that_the_agent_waits_for_is_not_rehearsed() -> None:
    tell = playbook()
    tell(0, asked(7, "deploy 1"))
    assert tell(1, predicted("deploy 1")) == ["refused deploy: duplicate"]


def test_a_servers_tool_is_asked_only_for_what_it_lists() -> None:
    tell = playbook()
    policy = tell.scheduler._state.policy
    assert not rehearses(tell, "box/put 1")
    policy.annotated("box/put", Hints(arguments=frozenset({"id"})))
    assert not rehearses(tell, "box/put 1")
    policy.annotated("box/put", Hints(arguments=frozenset({"id", "dry_run"})))
    assert rehearses(tell, "box/put 1")
    policy.annotated("box/put", None)
    assert not rehearses(tell, "box/put 2")


def test_it_is_charged_like_any_other_job() -> None:
    tell = playbook()
    tell.scheduler._state.policy.annotated("box/put", Hints(arguments=frozenset({"dry_run"})))
    assert rehearses(tell, "box/put 1")
    assert not rehearses(tell, "box/put 2"), "calls_per_session = 1"
    tell = playbook(budget=BudgetLimits(calls_per_minute=1))
    assert rehearses(tell, "deploy 1")
    assert tell(0, predicted("get_item 1")) == ["refused get_item: calls"]


def test_it_is_wasted_unless_its_call_comes() -> None:
    tell = playbook(budget=BudgetLimits(wasted_s_per_minute=100.0))
    tell(0, predicted("deploy 1", "deploy 2"))
    tell(2, done(1))
    tell(2, done(2))
    tell(3, asked(7, "deploy 1"))
    assert [use.used for use in tell.scheduler.budgets.uses(3)] == [0.0]
    tell(30, Tick())
    assert [use.used for use in tell.scheduler.budgets.uses(30)] == [2.0]


def test_it_takes_no_slot_that_anything_else_wants() -> None:
    tell = playbook(bounds=limits(slots=1))
    assert tell(0, predicted(guess("deploy 1", 0.9), guess("get_item 1", 0.2))) == [
        "refused deploy: policy",
        "launch 1 get_item",
    ]
    tell = playbook(bounds=limits(slots=1))
    tell(0, predicted(guess("deploy 1", 0.9)))
    assert tell(1, predicted(guess("get_item 1", 0.2))) == [
        "cancel 1",
        "1 preempted, ran 1, saved 0",
        "launch 2 get_item",
    ]
    assert tell(2, predicted(guess("deploy 2", 0.9))) == ["refused deploy: policy"]
    assert tell(3, done(2)) == [], "it does not wait for one either"


def test_the_agents_own_calls_come_first() -> None:
    tell = playbook(capacities={"box": ServerCapacity(total=1, speculative=1)})
    tell.scheduler._state.policy.annotated("box/put", Hints(arguments=frozenset({"dry_run"})))
    assert rehearses(tell, "box/put 1")
    assert tell(1, asked(7, "box/look 1")) == ["cancel 1", "1 preempted, ran 1, saved 0", "run 7"]


def test_it_writes_nothing_and_one_that_is_over_stands_whatever_is_written() -> None:
    tell = playbook()
    tell(0, predicted("deploy 1", "get_item 1"))
    assert tell(1, done(1)) == []
    tell(2, done(2))
    assert tell(3, asked(7, "set_item 1")) == ["1 discarded, ran 1, saved 0", "run 7"]
    assert tell(4, asked(8, "deploy 1")) == ["2 discarded, ran 2, saved 0", "run 8"]


@pytest.mark.parametrize("call", ["set_item 1", "deploy 2"])
def test_one_that_runs_gives_way_to_what_is_written(call: str) -> None:
    tell = playbook()
    tell(0, predicted("deploy 1"))
    assert tell(1, asked(7, "web_get 1")) == ["run 7"]
    assert tell(2, asked(8, call)) == ["cancel 1", "1 discarded, ran 2, saved 0", "run 8"]
    assert tell(3, predicted("deploy 1")) == ["refused deploy: policy"], "something is being written still"


def test_while_a_person_is_asked_the_call_counts_as_begun_but_is_in_nobodys_way() -> None:
    tell = playbook()
    tell(0, native_began("order 1"))
    assert tell(1, predicted(guess("order 1", 0.98, SEALED))) == ["refused order: approval", "rehearse 1 order"]
    assert tell(2, asked(7, "order 1")) == ["cancel 1", "1 preempted, ran 1, saved 0", "run 7"]


def test_it_goes_with_its_session_and_when_events_are_lost() -> None:
    tell = playbook()
    tell(0, predicted("deploy 1"))
    assert tell(1, SessionEnded(session="s")) == ["cancel 1", "1 discarded, ran 1, saved 0"]
    tell(2, predicted("deploy 1"))
    assert tell(3, ObservationLost()) == ["cancel 2", "2 discarded, ran 1, saved 0"]


@pytest.mark.parametrize("end", [broke(1), done(1, "no", Status.ERROR)])
def test_one_that_fails_may_be_tried_again(end: JobEnded) -> None:
    tell = playbook()
    tell(0, predicted("deploy 1"))
    assert tell(1, end) == ["1 discarded, ran 1, saved 0"]
    assert rehearses(tell, "deploy 1")


def test_what_it_took_says_nothing_of_how_long_the_call_takes() -> None:
    tell = playbook()
    tell(0, predicted("deploy 1"))
    tell(0.001, done(1))
    assert rehearses(tell, "deploy 2")


def test_its_result_takes_no_room() -> None:
    tell = playbook(bounds=limits(held_bytes=10))
    tell(0, predicted("deploy 1", "get_item 1"))
    result = JobResult(job=1, body=b"12345678")
    gone = ref(result)
    tell(1, JobEnded(job=2, result=result))
    del result
    assert gone() is None
    assert tell(1, JobEnded(job=1, result=ToolResult(body=b"12345678"))) == []


def test_while_the_call_is_written_it_is_judged_by_the_call_and_not_by_its_own_form() -> None:
    tell = playbook()
    tell(0, predicted(guess("deploy 1", 0.3)))
    assert tell(1, wrote("deploy 1")) == []
    assert tell(2, wrote("deploy 2")) == ["cancel 1", "1 preempted, ran 2, saved 0"]


def test_chains_of_guesses_are_rehearsed_by_their_own_probability() -> None:
    tell = playbook()
    far = Candidate(invocation=call_of("deploy 1"), confidence=0.5, source="beyond", depth=3)
    assert tell(0, Predicted(session="s", candidates=(far,)))[1:] == ["rehearse 1 deploy"]
