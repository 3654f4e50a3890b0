"""Conversations with the admission queue: who goes, who waits, and for how long."""

from paste_proxy.turns.admission import Bounds
from paste_proxy.turns.band import FixedBand
from paste_proxy.turns.priority import FirstCome
from paste_proxy.turns.types import EngineLoad, Measured, SessionOver, Tick, TurnWrites

from .transcript import Transcript, new, over, ready

ONE = FixedBand(1.0, 1.0)


def test_turns_go_at_once_while_there_is_room() -> None:
    tell = Transcript()
    assert tell(0, ready(1)) == ["admit 1 after 0"]
    assert tell(0, ready(2)) == ["admit 2 after 0"]
    assert tell(1, ready(3)) == []
    assert tell(5, over(1)) == ["admit 3 after 4"]


def test_the_one_that_was_ready_first_goes_first() -> None:
    tell = Transcript(ONE)
    tell(0, ready(1), ready(2), ready(3))
    assert tell(1, over(1)) == ["admit 2 after 1"]
    assert tell(2, over(2)) == ["admit 3 after 2"]


def test_what_was_saved_is_not_burnt_by_waiting() -> None:
    tell = Transcript(ONE)
    tell(0, ready(1))
    assert tell(0, ready(2), ready(3, realized_s=2.0), ready(4, future_s=1.0)) == []
    assert tell(1, over(1)) == ["admit 3 after 1"]
    assert tell(2, over(3)) == ["admit 4 after 2"]
    assert tell(3, over(4)) == ["admit 2 after 3"]


def test_of_two_that_gain_alike_the_one_that_costs_less_goes_first() -> None:
    tell = Transcript(ONE)
    tell(0, ready(1))
    tell(0, ready(2, prompt=500_000, realized_s=1.0), ready(3, prompt=500, realized_s=1.0))
    assert tell(1, over(1)) == ["admit 3 after 1"]


def test_waiting_makes_up_for_it() -> None:
    tell = Transcript(ONE)
    tell(0, ready(1), ready(2))
    assert tell(90, ready(3, realized_s=1_000.0), over(1)) == ["admit 2 after 90"]


def test_a_turn_that_does_not_fit_keeps_its_place() -> None:
    tell = Transcript(FixedBand(8.0, 8.0), gamma=1.0)
    tell(0, *(ready(turn) for turn in range(1, 9)))
    assert tell(1, ready(9, prompt=2_000), ready(10, prompt=10)) == []
    assert tell(2, over(1)) == [], "there would be room for the short one"
    assert tell(3, over(2))[0] == "admit 9 after 2"


def test_one_larger_than_the_band_goes_when_there_is_some_room() -> None:
    tell = Transcript(FixedBand(8.0, 8.0), gamma=1.0)
    tell(0, *(ready(turn) for turn in range(1, 9)))
    tell(1, ready(9, prompt=200_000))
    assert tell(2, over(1)) == []
    assert tell(3, over(2)) == ["admit 9 after 2"]


def test_no_turn_waits_longer_than_any_may() -> None:
    tell = Transcript(bounds=Bounds(longest_s=60))
    tell(0, ready(1), ready(2), ready(3))
    assert tell.admission.next_deadline() == 60
    assert tell(59, Tick()) == []
    assert tell(60, Tick()) == ["admit 3 after 60, late"]


def test_a_session_may_wait_longer_to_begin_but_not_for_ever() -> None:
    tell = Transcript(ONE, bounds=Bounds(longest_s=60, begins_s=90))
    tell(0, ready(1), new(2))
    assert tell(60, Tick()) == []
    assert tell(90, Tick()) == ["admit 2 after 90, late"]


def test_one_that_would_rather_come_again_is_turned_away() -> None:
    tell = Transcript(bounds=Bounds(longest_s=60))
    tell(0, ready(1), ready(2), ready(3, patience_s=5))
    assert tell.admission.next_deadline() == 5
    assert tell(5, Tick()) == ["turn 3 away for 5"]
    assert tell(9, over(1)) == []


def test_one_that_is_turned_away_is_told_what_others_waited() -> None:
    tell = Transcript(ONE)
    tell(0, ready(1), ready(2))
    assert tell(20, over(1)) == ["admit 2 after 20"]
    tell(20, ready(3, patience_s=1))
    assert tell(21, Tick()) == ["turn 3 away for 2.5"]


def test_a_session_with_many_turns_at_once_does_not_keep_new_ones_out() -> None:
    tell = Transcript(FixedBand(2.0, 4.0))
    tell(0, *(ready(turn, "busy") for turn in range(1, 9)))
    assert tell(1, new(20), new(21)) == []
    assert tell(2, ready(9, "busy"), over(1)) == ["admit 5 after 2"]
    for turn in (2, 3, 4):
        tell(3, over(turn))
    assert tell(4, over(5)) == ["admit 20 after 3"], "it came before the ninth"
    assert tell(5, over(6)) == ["admit 21 after 4"]
    assert tell(6, over(7)) == ["admit 9 after 4"]


def test_what_an_engine_said_is_forgotten_when_it_says_nothing_more() -> None:
    tell = Transcript(FixedBand(8.0, 8.0))
    tell(0, ready(1), Measured(load=EngineLoad(running=300, kv_used=0.99)))
    assert tell(1, ready(2)) == []
    assert tell(2, Measured(load=None)) == ["admit 2 after 1"]


def test_one_out_of_all_proportion_leaves_room_beside_it() -> None:
    tell = Transcript(FixedBand(8.0, 8.0), gamma=1.0)
    tell(0, ready(1), ready(2), ready(3, prompt=1_000_000))
    assert tell(1, ready(4)) == ["admit 4 after 0"]


def many_under_way(tell: Transcript) -> None:
    """Six sessions, of which two have turns in the engine and the others are in their tools."""
    tell(0, *(ready(turn, f"s{turn}") for turn in range(1, 7)))
    tell(0, over(1), over(2), over(3), over(4))


def test_many_sessions_wait_while_those_under_way_fill_the_engine() -> None:
    tell = Transcript(FixedBand(2.0, 3.0))
    many_under_way(tell)
    assert tell(1, *(new(turn) for turn in range(10, 14))) == ["admit 10 after 0"], "few go in up to P_high"
    tell(1, *(new(turn) for turn in range(14, 24)))
    assert tell(2, over(5)) == [], "many only up to P_low"
    assert tell(2, over(6)) == ["admit 11 after 1"]


def test_a_session_under_way_goes_before_many_that_are_not() -> None:
    tell = Transcript(FixedBand(2.0, 2.0))
    many_under_way(tell)
    tell(1, *(new(turn) for turn in range(10, 30)), ready(7, "s1"))
    assert tell(2, over(5)) == ["admit 7 after 1"]


def test_few_that_wait_to_begin_do_so_in_turns_with_the_others() -> None:
    tell = Transcript(FixedBand(2.0, 2.0))
    many_under_way(tell)
    tell(1, new(10), new(11), ready(7, "s1"), ready(8, "s2"))
    assert tell(2, over(5)) == ["admit 10 after 1"]
    assert tell(2, over(6)) == ["admit 7 after 1"]
    assert tell(2, over(10)) == ["admit 11 after 1"]
    assert tell(2, over(7)) == ["admit 8 after 1"]


def test_sessions_that_are_over_are_not_under_way() -> None:
    tell = Transcript(FixedBand(2.0, 3.0))
    many_under_way(tell)
    tell(1, *(SessionOver(session=f"s{turn}") for turn in range(1, 5)))
    assert tell(1, *(new(turn) for turn in range(10, 14))) == ["admit 10 after 0"]
    assert tell(2, over(5)) == [], "three are more than few where two run"


def test_without_gates_a_session_begins_when_its_turn_has_come() -> None:
    tell = Transcript(ONE, FirstCome(), gates=False)
    tell(0, ready(1), new(2), ready(3))
    assert tell(1, over(1)) == ["admit 2 after 1"]


def test_one_that_leaves_the_queue_or_the_engine_is_gone() -> None:
    tell = Transcript(ONE)
    tell(0, ready(1), ready(2), ready(3))
    assert tell(1, over(2)) == []
    assert tell(2, over(1)) == ["admit 3 after 2"]
    assert tell(3, TurnWrites(turn=3), over(3), over(3), over(2), over(9), TurnWrites(turn=9)) == []
    assert (tell.admission.pressure, tell.admission.held) == (0.0, 0)


def test_what_others_have_the_engine_do_counts() -> None:
    tell = Transcript(FixedBand(2.0, 2.0))
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
