"""Turns and moments of recordings."""

from dataclasses import replace

from paste_proxy.events.types import Event, ToolCall
from paste_proxy.mining.moments import Moment, moments_of, turns_of
from tests.mining.sessions import Script


def test_a_turn_that_calls_nothing_is_a_moment_before_the_next_one() -> None:
    events = Script().user("hi").says("hello").user("go").call("get", {}, 1).end().events
    turns = turns_of(events)
    assert [(turn.start, len(turn.calls)) for turn in turns] == [(1, 0), (3, 1)]
    assert moments_of(events, turns) == [Moment(0, 0), Moment(1, 1), Moment(2, 1), Moment(4, 2)]


def test_text_and_calls_of_one_turn_are_one_and_no_moment_lies_between() -> None:
    script = Script().user("go").says("I will look.")
    call = replace(first_call(Script().call("get", {}, 1).events), turn=1)
    events = (*script.events, call)
    turns = turns_of(events)
    assert [(turn.start, len(turn.calls)) for turn in turns] == [(1, 1)]
    assert moments_of(events, turns) == [Moment(0, 0)]


def test_calls_that_name_no_turn_belong_together_until_something_else_happens() -> None:
    script = Script().user("go").batch([("get", {"n": 1}, 1), ("get", {"n": 2}, 2)]).call("get", {"n": 3}, 3)
    events = [replace(event, turn=None) if isinstance(event, ToolCall) else event for event in script.events]
    assert [len(turn.calls) for turn in turns_of(events)] == [2, 1]


def test_answers_that_come_between_the_calls_of_a_turn_do_not_split_it() -> None:
    call, other, answer, other_answer = Script().batch([("get", {"n": 1}, 1), ("get", {"n": 2}, 2)]).events
    events = [call, answer, other, other_answer]
    turns = turns_of(events)
    assert [len(turn.calls) for turn in turns] == [2]
    assert [moment.turn for moment in moments_of(events, turns)] == [1, 1]


def first_call(events: list[Event]) -> ToolCall:
    return next(event for event in events if isinstance(event, ToolCall))
