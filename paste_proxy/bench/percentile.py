"""Percentiles of measured values."""

from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed (nearest rank).

    Raises:
        ValueError: no values.
    """
    if not values:
        raise ValueError("no values to take a percentile of")
    ordered = sorted(values)
    rank = -(-len(ordered) * round(share * 10_000) // 10_000)
    return ordered[max(0, rank - 1)]
