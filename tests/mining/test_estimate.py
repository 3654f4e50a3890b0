"""Estimates: back-off, bounds, calibration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.calibration import calibrate
from paste_proxy.mining.contexts import length, parent, suffixes
from paste_proxy.mining.estimate import Count, backed_off, lower_bound


def test_contexts_go_from_none_to_long() -> None:
    stream = ["user", "ok:object:find", "error:line:get"]
    assert suffixes(stream) == (
        "",
        "error get",
        "error:line:get",
        "ok:object:find > error:line:get",
        "user > ok:object:find > error:line:get",
    )


def test_each_context_backs_off_to_the_next_shorter() -> None:
    contexts = suffixes(["user", "ok:object:find", "error:line:get"])
    assert [parent(context) for context in contexts[1:]] == list(contexts[:-1])
    assert sorted(contexts, key=length) == list(contexts)


def test_a_rare_context_says_little_and_an_often_seen_one_decides() -> None:
    often, rare = Count(1000, 100, 100), Count(1, 1, 1)
    assert backed_off([often, rare])[0] == pytest.approx(0.28, abs=0.01)
    assert backed_off([often, Count(1000, 1000, 1000)])[0] > 0.98
    assert backed_off([often, None]) == backed_off([often])


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_lower_bound_lies_below_the_rate_and_closes_in(hits: int, misses: int) -> None:
    seen = hits + misses
    bound = lower_bound(hits, seen)
    assert 0 <= bound <= (hits / seen if seen else 0) + 1e-9
    assert lower_bound(hits * 10, seen * 10) >= bound - 1e-9


def test_calibration_learns_that_confidences_were_twice_too_high() -> None:
    pairs = [(at / 1000, at % 2 == 0) for at in range(1000)]
    halved = [(confidence, came and confidence > at % 7 / 7) for at, (confidence, came) in enumerate(pairs)]
    learned = calibrate(halved)
    assert learned(0.9) == pytest.approx(0.45, abs=0.12)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=100, max_size=300))
def test_calibration_is_monotone_and_stays_a_probability(pairs: list[tuple[float, bool]]) -> None:
    learned = calibrate(pairs)
    values = [learned(at / 50) for at in range(51)]
    assert values == sorted(values)
    assert 0 <= values[0] <= values[-1] <= 1


def test_with_few_pairs_nothing_is_changed() -> None:
    assert calibrate([(0.5, True)] * 99)(0.3) == 0.3
