"""The guesser's transcripts."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.candidate import MODEL
from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.guessing.types import (
    Ask,
    Judged,
    Sampled,
    SampleEnd,
    SessionLeft,
    Stop,
    Suggest,
    ToolRan,
    TurnClosed,
    TurnOpened,
)
from tests.speculation.guessing.playbook import PLENTY, A, B, C, Play, guesser, stopped, suggested


def test_samples_are_asked_for_at_once_and_each_call_is_suggested_when_it_comes() -> None:
    play = Play()
    assert play.open() == [1, 2, 3]
    first = play.sample(1, A)
    (suggestion,) = first
    assert isinstance(suggestion, Suggest)
    assert (suggestion.session, suggestion.candidates[0].source) == ("s", MODEL)
    assert suggested(first) == {A.key: pytest.approx(1 / 2)}
    assert suggested(play.sample(2, B)) == {B.key: pytest.approx(1 / 3)}, (
        "what has become less likely is not said again"
    )


def test_agreement_makes_a_call_likelier_and_stops_the_rest() -> None:
    play = Play()
    play.open()
    play.sample(1, A)
    second = play.sample(3, A)
    assert suggested(second) == {A.key: pytest.approx(2 / 3)}
    assert stopped(second) == [2]
    assert play.ends(2, SampleEnd.STOPPED) == []


def test_samples_that_agree_on_no_call_stop_the_rest_too() -> None:
    play = Play()
    play.open()
    assert play.sample(1) == []
    assert play.sample(2) == [Stop(3)]


def test_a_sample_with_several_calls_suggests_them_all() -> None:
    play = Play(guesser(most=1))
    play.open()
    assert suggested(play.sample(1, A, B, A)).keys() == {A.key, B.key}


def test_the_target_s_own_call_stops_the_samples_and_what_comes_after_is_nothing() -> None:
    play = Play()
    play.open()
    play.sample(1, B)
    assert play.call(A) == [Stop(2), Stop(3)]
    assert play.sample(2, A) == []
    assert play.ends(3, SampleEnd.STOPPED) == []
    assert play.close() == [Judged(right=0, wrong=1)]


def test_the_end_of_a_turn_or_of_a_session_stops_the_samples() -> None:
    play = Play()
    play.open()
    assert play.close() == [Stop(1), Stop(2), Stop(3)]
    play.open("t")
    assert play.tell(SessionLeft("t")) == [Stop(4), Stop(5), Stop(6)]


def test_a_turn_is_judged_by_all_its_calls_and_one_that_broke_off_teaches_nothing() -> None:
    play = Play(guesser(most=2))
    play.open()
    play.sample(1, A, B)
    play.sample(2, C)
    play.call(B)
    play.call(A, order=0)
    play.call(B, order=1)
    assert play.close() == [Judged(right=2, wrong=1)]
    play.open()
    play.sample(3, A)
    play.call(A)
    assert play.close(complete=False) == []


def test_confidence_follows_what_came_of_the_same_agreement_before() -> None:
    good, bad = Play(guesser(most=1, agree=1)), Play(guesser(most=1, agree=1))
    for _ in range(40):
        good.round(A, A)
        bad.round(A, B)
    good.open()
    assert suggested(good.sample(good.turn, A))[A.key] > 0.9
    bad_sample = next(number for turn in range(20) if (asked := bad.open()) for number in asked)
    assert suggested(bad.sample(bad_sample, A))[A.key] < 0.3


def test_where_it_does_not_pay_only_a_turn_now_and_then_is_asked_about() -> None:
    play = Play()
    asked = [play.round(A, B) for _ in range(200)]
    assert asked[0] == 3
    late = asked[-64:]
    assert set(late) <= {0, 1}
    assert 2 <= sum(late) <= 8


def test_where_it_pays_again_it_is_asked_again() -> None:
    play = Play()
    for _ in range(200):
        play.round(A, B)
    for _ in range(2_000):
        asked = play.round(A, A)
    assert asked >= 1
    assert all(play.round(A, A) for _ in range(20))


def test_tools_too_quick_or_an_llm_quicker_than_the_guesses_are_not_worth_a_sample() -> None:
    play = Play(guesser(most=1))
    for _ in range(70):
        play.tell(ToolRan(0.001))
    assert play.open() == []
    slow = Play(guesser(most=1))
    for _ in range(70):
        slow.open()
        slow.call(A, after=0.1)
        slow.close()
    assert slow.open() == []


def test_a_price_beyond_the_worth_of_the_time_asks_for_fewer_or_none() -> None:
    def asked(price: float) -> int:
        limits = replace(PLENTY, input_price=price)
        return len(Play(guesser(limits, most=9)).open(tokens=10_000))

    numbers = [asked(price) for price in (0.0, 0.002, 0.01, 10.0)]
    assert numbers == sorted(numbers, reverse=True)
    assert (numbers[0] > 1, numbers[-1]) == (True, 0)


@pytest.mark.parametrize(
    ("limit", "asked"),
    [({"concurrent": 2}, 2), ({"calls_per_minute": 1}, 1), ({"session_tokens": 1_200}, 1), ({"day_tokens": 2_300}, 2)],
)
def test_a_limit_cuts_the_number_of_samples(limit: dict[str, Any], asked: int) -> None:
    assert len(Play(guesser(replace(PLENTY, **limit))).open()) == asked


def test_money_has_limits_by_session_and_day() -> None:
    limits = replace(PLENTY, input_price=1.0, output_price=1.0, session_cost=0.0012, day_cost=0.0034)
    play = Play(guesser(limits, worth=1.0))
    assert [len(play.open(session)) for session in ("a", "a", "b", "c", "d")] == [1, 0, 1, 1, 0]


def test_what_a_sample_took_takes_the_place_of_what_was_set_aside() -> None:
    play = Play(guesser(replace(PLENTY, session_tokens=3_000), most=1))
    (sample,) = play.open(tokens=2_000)
    play.tell(Sampled(sample=sample, end=SampleEnd.ANSWERED, input_tokens=500, output_tokens=10))
    (sample,) = play.open(tokens=2_000)
    assert play.open(tokens=2_000) == []
    play.ends(sample, SampleEnd.STOPPED)
    assert play.open(tokens=2_000) == [], "what was cut off counts as if it had run to its end"


def test_an_endpoint_that_fails_is_left_alone_for_longer_each_time() -> None:
    play = Play(guesser(most=1))
    (sample,) = play.open()
    play.ends(sample, SampleEnd.FAILED)
    assert play.open(after=0.9) == []
    (sample,) = play.open(after=0.2)
    play.ends(sample, SampleEnd.TIMED_OUT)
    assert play.open(after=1.9) == []
    (sample,) = play.open(after=0.2)
    play.sample(sample, A)
    assert len(play.open()) == 1


def test_turns_whose_end_nobody_saw_are_let_go() -> None:
    play = Play()
    asked = play.open()
    assert stopped(play.tell(TurnOpened(session="s", turn=99, prompt_tokens=1), after=3_601)) == asked


HAPPENINGS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 4), st.sampled_from("st"), st.sampled_from((A, B, C))), max_size=120
)


@given(HAPPENINGS, st.integers(1, 6), st.integers(1, 4))
def test_whatever_happens_every_sample_is_accounted_for_and_no_limit_is_passed(
    happenings: list[tuple[int, int, str, Invocation]], concurrent: int, agree: int
) -> None:
    limits = replace(PLENTY, concurrent=concurrent, session_tokens=20_000)
    play = Play(guesser(limits, most=4, agree=agree))
    awaited: list[int] = []
    stops: set[int] = set()
    for kind, number, session, call in happenings:
        if kind == 0:
            decided = play.tell(TurnOpened(session=session, turn=play.turn + 1, prompt_tokens=900), after=0.1)
            play.turn += 1
        elif kind == 1 and awaited:
            decided = play.sample(awaited.pop(number % len(awaited)), call)
        elif kind == 2 and awaited:
            decided = play.ends(awaited.pop(number % len(awaited)), list(SampleEnd)[number % 4])
        elif kind == 3:
            decided = play.call(call, session=session)
        elif kind == 4:
            decided = play.tell(TurnClosed(session=session, turn=play.turn, complete=number > 1))
        else:
            decided = play.tell(SessionLeft(session)) if number == 1 else []
        asked = [one.sample for one in decided if isinstance(one, Ask)]
        assert not set(asked) & {*awaited, *stops}, "a number stands for one sample"
        awaited += asked
        assert len(awaited) <= concurrent
        for sample in stopped(decided):
            assert sample in awaited
            assert sample not in stops, "stopped once"
            stops.add(sample)
        assert all(0 < likely < 1 for likely in suggested(decided).values())
