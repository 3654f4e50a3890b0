"""When sessions come: all at once, one by one, or in bursts."""

from collections.abc import Iterator
from enum import StrEnum
from random import Random


class Pattern(StrEnum):
    """How sessions arrive."""

    TOGETHER = "together"
    """All at the same moment."""
    POISSON = "poisson"
    """Independently of each other."""
    BURSTY = "bursty"
    """As functions are called in Azure's trace (Shahrad et al., 2020): most calls come in bursts, a few of which are
    large. The sizes of bursts are drawn from a Pareto distribution of shape 1.5, cut at a quarter of all sessions;
    bursts come independently of each other, and sessions of one within a second."""


_SHAPE = 1.5
_WITHIN_S = 1.0


def arrival_times(pattern: Pattern, sessions: int, gap_s: float, random: Random) -> list[float]:
    """Ascending seconds from the first.

    Args:
        gap_s: the mean between two, unless all come together.
    """
    match pattern:
        case Pattern.TOGETHER:
            return [0.0] * sessions
        case Pattern.POISSON:
            times = list(_one_by_one(sessions, gap_s, random))
        case Pattern.BURSTY:
            times = list(_in_bursts(sessions, gap_s, random))
    return [time - min(times) for time in sorted(times)]


def _one_by_one(sessions: int, gap_s: float, random: Random) -> Iterator[float]:
    now = 0.0
    for _ in range(sessions):
        now += random.expovariate(1 / gap_s)
        yield now


def _in_bursts(sessions: int, gap_s: float, random: Random) -> Iterator[float]:
    left, now, most = sessions, 0.0, max(1, sessions // 4)
    while left:
        size = min(int(random.paretovariate(_SHAPE)), most, left)
        now += random.expovariate(1 / (gap_s * size))
        yield from (now + random.uniform(0.0, _WITHIN_S) for _ in range(size))
        left -= size
