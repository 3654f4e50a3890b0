"""How full it was."""

from typing import Any

from paste_proxy.bench.interference.saturation import Saturation, settled


def stats(launched: int, wasted_s: float, **outcomes: int) -> dict[str, Any]:
    return {"launched": launched, "wasted_s": wasted_s, "outcomes": outcomes, "refused": {"budget": launched * 2}}


def test_guesses_and_calls_share_the_slots() -> None:
    filled = Saturation(slots=4)
    filled.add(stats(1, 5.0, discarded=1), stats(9, 11.0, discarded=6, preempted=3), wall_s=2.0, waited_s=1.2)
    told = filled.to_json()
    assert told["used"] == 0.9
    assert (told["launched"], told["discarded"], told["preempted"], told["without_room"]) == (8, 5, 3, 16)
    assert told["launched_per_s"] == 4.0


def test_it_is_full_where_guesses_and_calls_leave_no_slot() -> None:
    filled = Saturation(slots=4)
    for running, waiting in ((4, 0), (3, 1), (3, 0), (2, 1)):
        filled.look(running, waiting)
    assert filled.to_json()["full"] == 0.5


def test_it_is_settled_when_all_that_was_launched_has_ended() -> None:
    assert not settled(stats(3, 0.0, discarded=1, preempted=1))
    assert settled(stats(3, 0.0, discarded=1, preempted=2))
    assert settled({"launched": 0, "outcomes": {}})
