"""Conversations with the admission queue: who goes, who waits, and for how long."""

from paste_proxy.turns.admission import Bounds
from paste_proxy.turns.band import FixedBand
from paste_proxy.turns.types import EngineLoad, Measured, SessionOver, Tick

from .transcript import Transcript, over, ready


def test_turns_go_at_once_while_there_is_room() -> None:
    tell = Transcript()
    assert tell(0, ready(1)) == ["admit 1 after 0"]
    assert tell(0, ready(2)) == ["admit 2 after 0"]
    assert tell(1, ready(3)) == []
    assert tell(5, over(1)) == ["admit 3 after 4"]


def test_what_was_saved_is_not_burnt_by_waiting() -> None:
    tell = Transcript(FixedBand(0.75, 1.0))
    tell(0, ready(1))
    assert tell(0, ready(2), ready(3, realized_s=2.0), ready(4, future_s=1.0)) == []
    assert tell(1, over(1)) == ["admit 3 after 1"]
    assert tell(2, over(3)) == ["admit 4 after 2"]
    assert tell(3, over(4)) == ["admit 2 after 3"]


def test_of_two_that_gain_alike_the_one_that_costs_less_goes_first() -> None:
    tell = Transcript(FixedBand(0.75, 1.0))
    tell(0, ready(1))
    tell(0, ready(2, prompt=50_000), ready(3, prompt=500))
    assert tell(1, over(1)) == ["admit 3 after 1"]


def test_waiting_makes_up_for_it() -> None:
    tell = Transcript(FixedBand(0.75, 1.0))
    tell(0, ready(1))
    tell(0, ready(2, prompt=50_000))
    assert tell(90, over(1), ready(3)) == ["admit 2 after 90"]
    tell(91, ready(4, prompt=50_000))
    assert tell(118, over(2), ready(5)) == ["admit 3 after 28"]


def test_no_turn_waits_longer_than_any_may() -> None:
    tell = Transcript(bounds=Bounds(longest_s=60))
    tell(0, ready(1), ready(2), ready(3))
    assert tell.admission.next_deadline() == 60
    assert tell(59, Tick()) == []
    assert tell(60, Tick()) == ["admit 3 after 60, late"]


def test_one_that_would_rather_come_again_is_turned_away() -> None:
    tell = Transcript(bounds=Bounds(longest_s=60))
    tell(0, ready(1), ready(2), ready(3, patience_s=5))
    assert tell.admission.next_deadline() == 5
    assert tell(5, Tick()) == ["turn 3 away for 60"]
    assert tell(9, over(1)) == []


def test_a_session_does_not_begin_while_those_under_way_fill_the_engine() -> None:
    tell = Transcript(FixedBand(2.0, 3.0))
    tell(0, ready(1, "a"), ready(2, "b"), ready(3, "c"))
    tell(1, over(1))
    tell(1, over(2))
    assert tell(1, ready(4, "new", before=0)) == ["admit 4 after 0"], "below P_low nobody waits"
    assert tell(2, ready(5, "newer", before=0)) == []
    assert tell(3, ready(6, "a")) == ["admit 6 after 0"]
    assert tell(4, over(3), over(4), over(6)) == ["admit 5 after 2"]


def test_sessions_that_are_over_keep_no_other_from_beginning() -> None:
    tell = Transcript(FixedBand(1.0, 2.0))
    tell(0, ready(1, "a"), ready(2, "b"))
    tell(1, over(1))
    assert tell(1, ready(3, "new", before=0)) == []
    assert tell(1, SessionOver(session="a")) == ["admit 3 after 0"]


def test_one_that_leaves_the_queue_or_the_engine_is_gone() -> None:
    tell = Transcript(FixedBand(0.75, 1.0))
    tell(0, ready(1), ready(2), ready(3))
    assert tell(1, over(2)) == []
    assert tell(2, over(1)) == ["admit 3 after 2"]
    assert tell(3, over(3), over(3), over(2), over(9)) == []
    assert (tell.admission.pressure, tell.admission.held) == (0.0, 0)


def test_what_others_have_the_engine_do_counts() -> None:
    tell = Transcript(FixedBand(1.0, 2.0))
    tell(0, ready(1))
    tell(0, Measured(load=EngineLoad(running=2, waiting=1)))
    assert tell.admission.pressure == 3.0
    assert tell(1, ready(2)) == []
    assert tell(2, Measured(load=EngineLoad(running=1))) == ["admit 2 after 1"]


def test_an_engine_whose_cache_is_full_gets_no_more_but_one() -> None:
    tell = Transcript(FixedBand(5.0, 9.0))
    tell(0, ready(1))
    tell(0, Measured(load=EngineLoad(running=1, kv_used=0.99)))
    assert tell(1, ready(2)) == []
    assert tell(2, over(1)) == ["admit 2 after 1"]


def test_long_contexts_weigh_more() -> None:
    tell = Transcript(FixedBand(20.0, 30.0), gamma=1.0)
    tell(0, *(ready(turn) for turn in range(9)))
    assert tell.admission.pressure == 9.0
    tell(0, over(8), ready(10, prompt=30_000))
    assert tell.admission.pressure > 9.0
