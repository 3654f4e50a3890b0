"""Two sides compared."""

from typing import Any

import numpy as np
import pytest

from paste_proxy.bench.interference.ratios import Pair, compared, percentiles


def pairs(factor: float, later: float = 0.0) -> list[Pair]:
    random = np.random.default_rng(5)
    offs = [random.exponential(100, 40) for _ in range(30)]
    return [Pair(off, off * factor + later) for off in offs]


def ratio(report: dict[str, Any], share: str) -> tuple[float, float, float]:
    found = report["ratio"][share]
    return found["low"], found["ratio"], found["high"]


def test_what_takes_half_as_long_again_is_told_so_and_for_sure() -> None:
    report = compared(pairs(1.5))
    for share in ("p50", "p95", "p99"):
        assert ratio(report, share) == pytest.approx((1.5, 1.5, 1.5))
    assert report["calls"] == 1_200


def test_what_is_later_by_a_moment_shows_where_calls_are_short() -> None:
    report: dict[str, Any] = compared(pairs(1.0, later=7.0))
    assert report["later_ms"] == pytest.approx({"p50": 7, "p95": 7, "p99": 7})
    assert ratio(report, "p50")[1] > ratio(report, "p99")[1] > 1


def test_an_interval_holds_the_ratio_and_is_the_same_every_time() -> None:
    random = np.random.default_rng(6)
    noisy = [Pair(pair.off, pair.off * random.uniform(0.5, 1.5)) for pair in pairs(1.0)]
    low, middle, high = ratio(compared(noisy), "p50")
    assert low < middle < high
    assert compared(noisy) == compared(noisy)


def test_of_nothing_there_are_no_percentiles() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentiles(np.array([]))
