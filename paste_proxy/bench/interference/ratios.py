"""Two sides compared block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from paste_proxy.events.values import Json

Times = NDArray[np.float64]
SHARES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}
_DRAWS = 1_000
_OUTSIDE = 2.5
"""Per cent of the draws on either side of the interval."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What two blocks of the same calls took, in the same order; milliseconds."""

    off: Times
    on: Times


def percentiles(times: Times) -> dict[str, float]:
    """The percentiles of `SHARES`; by linear interpolation.

    Raises:
        ValueError: no values.
    """
    if not times.size:
        raise ValueError("no values to take a percentile of")
    found = np.percentile(times, list(SHARES.values()))
    return dict(zip(SHARES, map(float, found), strict=True))


def compared(pairs: Sequence[Pair], *, seed: int = 0) -> dict[str, Json]:
    """Percentiles of both sides, and their ratios with 95 % intervals.

    The intervals are those of the bootstrap over pairs of blocks (Efron 1979; blocks are drawn whole, since calls of
    one block share what else the machine did): whatever slowed both sides of a pair alike is in both.
    """
    off, on = percentiles(_joined(pairs, "off")), percentiles(_joined(pairs, "on"))
    drawn = _drawn(pairs, seed)
    ratios: dict[str, Json] = {}
    for at, name in enumerate(SHARES):
        low, high = (float(end) for end in np.percentile(drawn[:, at], [_OUTSIDE, 100 - _OUTSIDE]))
        ratios[name] = {"ratio": _short(on[name] / off[name]), "low": _short(low), "high": _short(high)}
    later = percentiles(np.concatenate([pair.on - pair.off for pair in pairs]))
    return {
        "calls": sum(pair.off.size for pair in pairs),
        "off_ms": {name: _short(value) for name, value in off.items()},
        "on_ms": {name: _short(value) for name, value in on.items()},
        "ratio": ratios,
        "later_ms": {name: _short(value) for name, value in later.items()},
    }


def _drawn(pairs: Sequence[Pair], seed: int) -> Times:
    """The ratios of each draw, a row each."""
    random = Random(seed)  # noqa: S311 - the same for the same blocks
    rows = []
    for _ in range(_DRAWS):
        some = random.choices(pairs, k=len(pairs))
        off, on = percentiles(_joined(some, "off")), percentiles(_joined(some, "on"))
        rows.append([on[name] / off[name] for name in SHARES])
    return np.array(rows)


def _joined(pairs: Sequence[Pair], side: str) -> Times:
    return np.concatenate([getattr(pair, side) for pair in pairs])


def _short(value: float) -> float:
    return round(value, 4)
