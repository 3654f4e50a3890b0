"""How many turns go at a step, for a band."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.engines.vllm_plugin.pressure import Capacity, Range, Waiting, admitted

BAND = Range(0.2, 0.5)


def goes(shares: list[float], pressure: float, *, busy: bool = True, now: float = 0.0) -> int:
    turns = [Waiting(0.0, share=share) for share in shares]
    return admitted(turns, pressure, BAND, busy=busy, now=now, longest_s=30.0)


def test_pressure_is_decode_load_and_weighed_kv_load() -> None:
    capacity = Capacity(turns=10, tokens=1_000, gamma=2.0)
    assert capacity.share(100, turns=3) == 0.3 + 2.0 * 0.1


def test_within_the_band_turns_go_as_long_as_they_fit() -> None:
    assert goes([0.1, 0.1, 0.1, 0.1], 0.25) == 2


def test_each_turn_that_ends_makes_room_for_the_next() -> None:
    assert goes([0.1, 0.1], 0.5) == 0
    assert goes([0.1, 0.1], 0.4) == 1, "it does not wait until the pressure is down at P_low"


def test_one_that_does_not_fit_keeps_its_place() -> None:
    assert goes([0.4, 0.01], 0.3) == 0


def test_below_the_band_a_turn_goes_whatever_it_adds() -> None:
    assert goes([0.9, 0.01], 0.1) == 1


def test_an_idle_engine_takes_a_turn_in_any_case() -> None:
    assert goes([9.0, 9.0], 0.6, busy=False) == 1


def test_one_that_has_waited_too_long_goes_in_any_case() -> None:
    assert goes([9.0], 0.6, now=29.9) == 0
    assert goes([9.0], 0.6, now=30.0) == 1


@given(st.lists(st.floats(0.0, 0.3), max_size=12), st.floats(0.0, 1.0), st.booleans())
def test_the_pressure_stays_in_the_band_but_for_one_turn(shares: list[float], pressure: float, busy: bool) -> None:
    count = goes(shares, pressure, busy=busy)
    before_last = pressure + sum(shares[: max(0, count - 1)])
    assert (
        count == 0 or before_last < BAND.low or before_last + shares[count - 1] <= BAND.high or not (busy or count > 1)
    )
    if count < len(shares):
        assert pressure + sum(shares[: count + 1]) > BAND.high
