"""Recorded sessions as the steps of the paper's model."""

import pytest

from paste_proxy.bench.steps import served, steps_of
from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, Outcome, Speculation, ToolCall, ToolOutput, UserMessage
from paste_proxy.mining.prediction import Prediction
from tests.mining.sessions import Session

A, B = Invocation("look", {"q": "a"}), Invocation("look", {"q": "b"})


def user(ts: float | None = None) -> Event:
    return UserMessage(session="s", ts=ts, text="go")


def turn(number: int, duration: float | None = None, ts: float | None = None) -> Event:
    return LlmTurn(session="s", ts=ts, text="", turn=number, duration_s=duration)


def call(number: int, invocation: Invocation, ts: float | None = None, call_id: str = "c") -> Event:
    return ToolCall(session="s", ts=ts, call_id=call_id, invocation=invocation, turn=number)


def output(duration: float | None = None, ts: float | None = None, call_id: str = "c") -> Event:
    return ToolOutput(
        session="s", ts=ts, call_id=call_id, tool="look", output="", status=Status.OK, duration_s=duration
    )


def test_recorded_seconds_count_as_they_were() -> None:
    events = (user(), turn(1, 3.0), call(1, A), output(2.0), turn(2, 9.0), turn(3, 1.0), call(3, B), output(0.5))
    steps = list(steps_of(Session("s", events)))
    assert [(step.generation_s, step.tool_s) for step in steps] == [(3.0, 2.0), (1.0, 0.5)]


def test_parallel_calls_take_as_long_as_the_longest() -> None:
    events = (user(), turn(1, 3.0), call(1, A), call(1, B, call_id="d"), output(2.0), output(5.0, call_id="d"))
    (step,) = steps_of(Session("s", events))
    assert step.tool_s == 5.0


def test_without_seconds_the_time_between_events_counts() -> None:
    events = (user(10.0), call(1, A, 14.0), output(ts=15.5), call(2, B, 16.5), output(ts=20.0))
    steps = list(steps_of(Session("s", events)))
    assert [(step.generation_s, step.tool_s) for step in steps] == [(4.0, 1.5), (1.0, 3.5)]


def test_where_nothing_tells_the_time_it_is_not_known() -> None:
    (step,) = steps_of(Session("s", (user(), call(1, A), output())))
    assert (step.generation_s, step.tool_s, step.rank) == (None, None, None)


def test_a_turn_is_compared_with_what_was_predicted_just_before_it() -> None:
    def predict(event: Event) -> Prediction:
        said = (B, A) if isinstance(event, UserMessage) else (A,)
        return Prediction(tuple(Candidate(invocation=one, confidence=0.5, source="p") for one in said))

    events = (user(), turn(1), call(1, A), output(), turn(2), call(2, B), output(), turn(3), call(3, A), output())
    assert [step.rank for step in steps_of(Session("s", events), predict)] == [2, None, 1]


def test_what_a_sidecar_served_is_its_hit_rate() -> None:
    def ended(outcome: Outcome) -> Event:
        return Speculation(
            session="s", ts=None, invocation=A, source="p", confidence=0.5, outcome=outcome, ran_s=1, saved_s=1
        )

    calls = tuple(call(number, A) for number in range(4))
    jobs = (ended(Outcome.REUSED), ended(Outcome.DISCARDED), ended(Outcome.PROMOTED))
    assert served([Session("s", calls + jobs)]) == pytest.approx(0.5)
    assert served([Session("s", calls)]) is None
