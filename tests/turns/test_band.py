"""Where the bound of an engine's pressure comes to stand, on engines that are known."""

from collections.abc import Callable

import pytest

from paste_proxy.turns.band import KneeBand

Engine = Callable[[float], float]
"""Pressure -> tokens a second."""


def overrun(knee: float) -> Engine:
    return lambda pressure: 80 * pressure / (1 + 0.005 * pressure + (pressure / knee) ** 2)


def steady(pressure: float) -> float:
    return 80 * pressure / (1 + pressure * 16 / 175)


def fill(band: KneeBand, engine: Engine, turns: float, seconds: int, begin: int = 0) -> None:
    """So many turns want the engine, which has as many of them as it may."""
    for now in range(begin, begin + seconds):
        pressure = min(turns, band.high)
        band.gave(engine(pressure), pressure, 1.0, now, wanted=turns > band.high)


@pytest.mark.parametrize("knee", [48, 96, 200])
def test_the_knee_of_an_engine_that_can_be_overrun_is_found(knee: float) -> None:
    band = KneeBand()
    fill(band, overrun(knee), 1_000, 60)
    assert band.found
    assert overrun(knee)(band.high) >= 0.95 * overrun(knee)(knee)


def test_a_knee_below_the_first_bound_is_found() -> None:
    band = KneeBand(first=64)
    engine = overrun(16)
    for now, turns in enumerate((4, 8, 12, 16, 22, 30)):
        band.gave(engine(turns), turns, 1.0, now, wanted=False)
    fill(band, engine, 1_000, 60, begin=10)
    assert engine(band.high) >= 0.9 * engine(16)


def test_an_engine_that_only_gets_faster_is_soon_not_bounded() -> None:
    band = KneeBand()
    fill(band, steady, 500, 12)
    assert not band.found
    assert band.high >= 500


def test_nothing_is_learnt_while_nobody_waits() -> None:
    band = KneeBand()
    fill(band, overrun(48), 20, 500)
    assert (band.high, band.found) == (32.0, False)


def test_an_engine_that_got_faster_is_found_out() -> None:
    band = KneeBand()
    fill(band, overrun(48), 1_000, 60)
    before = band.high
    fill(band, overrun(200), 1_000, 3_000, begin=60)
    assert band.high > 1.3 * before


def test_the_low_bound_follows_the_high_one() -> None:
    band = KneeBand()
    fill(band, overrun(48), 1_000, 60)
    assert 0 < band.low < band.high
