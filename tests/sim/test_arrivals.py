"""When sessions come."""

from itertools import pairwise
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.sim.arrivals import Pattern, arrival_times


@given(
    pattern=st.sampled_from(list(Pattern)), sessions=st.integers(1, 300), gap_s=st.floats(0.01, 100), seed=st.integers()
)
def test_as_many_come_as_are_asked_for_one_after_the_other(
    pattern: Pattern, sessions: int, gap_s: float, seed: int
) -> None:
    times = arrival_times(pattern, sessions, gap_s, Random(seed))
    assert (len(times), times[0]) == (sessions, 0.0)
    assert times == sorted(times)
    assert times == arrival_times(pattern, sessions, gap_s, Random(seed))


def test_together_is_at_one_moment() -> None:
    assert arrival_times(Pattern.TOGETHER, 3, 5.0, Random(1)) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("pattern", [Pattern.POISSON, Pattern.BURSTY])
def test_on_average_they_come_as_far_apart_as_is_asked_for(pattern: Pattern) -> None:
    lengths = [arrival_times(pattern, 400, 2.0, Random(seed))[-1] for seed in range(30)]
    assert mean(lengths) == pytest.approx(800, rel=0.15)


def test_bursts_are_burstier() -> None:
    def near(pattern: Pattern) -> int:
        times = arrival_times(pattern, 1_000, 20.0, Random(1))
        return sum(after - before < 1.0 for before, after in pairwise(times))

    assert near(Pattern.BURSTY) > 5 * near(Pattern.POISSON)
