"""Where the bound of an engine's pressure comes to stand, on engines that are known."""

import random

import pytest

from paste_proxy.turns.band import KneeBand
from paste_proxy.turns.speeds import Speeds
from paste_proxy.turns.types import EngineLoad

from .engines import fill, gives, overrun, steady, window


@pytest.mark.parametrize("knee", [16, 25, 48, 96, 200])
def test_the_knee_of_an_engine_that_can_be_overrun_is_found(knee: float) -> None:
    band, engine = KneeBand(), overrun(knee)
    fill(band, engine, 1_000, 60)
    assert band.found
    assert gives(engine, band.high) >= 0.95 * gives(engine, knee)


@pytest.mark.parametrize("seed", range(10))
def test_it_is_found_although_rates_are_noisy(seed: int) -> None:
    band, engine, noise = KneeBand(), overrun(48), random.Random(seed)
    for now in range(120):
        token_s = engine(band.high) * noise.gauss(1.0, 0.05)
        band.gave(window(token_s, band.high), Speeds(), now)
    assert band.found
    assert gives(engine, band.high) >= 0.9 * gives(engine, 48)


def test_an_engine_that_only_gets_faster_is_soon_hardly_bounded() -> None:
    band = KneeBand()
    fill(band, steady, 500, 12)
    assert gives(steady, min(500, band.high)) >= 0.95 * gives(steady, 500)


def test_no_session_needs_to_begin_for_the_last_of_what_an_engine_gives() -> None:
    band = KneeBand()
    fill(band, steady, 2_000, 60)
    assert band.low < band.high
    assert gives(steady, band.low) >= 0.95 * gives(steady, band.high)


def test_nothing_is_learnt_while_nobody_waits() -> None:
    band = KneeBand()
    fill(band, overrun(48), 10, 500)
    assert (round(band.high), band.found) == (32, False)


@pytest.mark.parametrize(("before", "after"), [(48, 200), (100, 30)])
def test_an_engine_that_has_changed_is_found_out(before: float, after: float) -> None:
    band, engine = KneeBand(), overrun(after)
    fill(band, overrun(before), 1_000, 60)
    fill(band, engine, 1_000, 3_000, begin=60)
    assert gives(engine, band.high) >= 0.9 * gives(engine, after)


def test_what_has_no_room_in_the_cache_is_not_let_in_and_room_that_comes_back_is_found() -> None:
    band = KneeBand(first=32)
    for now in range(30):
        band.measured(EngineLoad(running=20, waiting=5, kv_used=0.85), now)
    assert 20 < band.low == band.high < 24, "a few are at hand"
    band.measured(EngineLoad(running=2, waiting=5, kv_used=0.85), 30)
    assert band.high > 15, "one look is not believed"
    for now in range(30):
        band.measured(EngineLoad(running=12, kv_used=0.97), now)
    assert 12 < band.high < 14.5
    for now in range(15):
        band.measured(EngineLoad(running=12, kv_used=0.5), now)
    assert 14.5 < band.high < 32
    for now in range(60):
        band.measured(EngineLoad(running=12, kv_used=0.5), now)
    assert band.high == pytest.approx(32)


def test_a_queue_of_the_engines_own_says_nothing_while_its_cache_has_room() -> None:
    band = KneeBand(first=32)
    band.measured(EngineLoad(running=4, waiting=28, kv_used=0.1), 0)
    band.measured(EngineLoad(running=4, waiting=28), 1)
    assert band.high == pytest.approx(32)


def test_an_engine_whose_cache_has_room_for_nothing_gets_one_at_a_time() -> None:
    band = KneeBand()
    for now in range(60):
        band.measured(EngineLoad(running=0, waiting=3, kv_used=1.0), now)
    assert band.high == pytest.approx(1, abs=0.01)
