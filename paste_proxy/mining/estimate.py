"""How likely a pattern's candidate is: Beta posteriors that back off from long contexts to short ones.

The posterior mean of a context is the prior of the contexts one signature longer, with the weight of a few
imaginary occurrences: a rare context says little of its own, an often seen one decides alone.
"""

from dataclasses import dataclass
from math import sqrt

PRIOR_MEAN = 0.02
PRIOR_WEIGHT = 2.0
BACK_OFF_WEIGHT = 4.0
"""Imaginary occurrences that the shorter context is worth."""


@dataclass(slots=True)
class Count:
    """What became of the candidates a pattern gave in one context."""

    seen: int = 0
    next: int = 0
    """Asked for in the very next turn."""
    ever: int = 0
    """Asked for within the horizon."""

    def add(self, *, is_next: bool, is_ever: bool) -> None:
        """Note one candidate."""
        self.seen += 1
        self.next += is_next
        self.ever += is_ever


def posterior(hits: float, seen: float, prior: float, weight: float) -> float:
    """Mean of the Beta posterior whose prior has the given mean and weight."""
    return (hits + weight * prior) / (seen + weight)


def backed_off(counts: list[Count | None]) -> tuple[float, float]:
    """Probabilities (next, ever) from the counts of contexts of length 0, 1, 2...; None for one not seen."""
    next_, ever, weight = PRIOR_MEAN, PRIOR_MEAN, PRIOR_WEIGHT
    for count in counts:
        if count is not None:
            next_ = posterior(count.next, count.seen, next_, weight)
            ever = posterior(count.ever, count.seen, ever, weight)
        weight = BACK_OFF_WEIGHT
    return next_, max(next_, ever)


def lower_bound(hits: int, seen: int, z: float = 1.28) -> float:
    """Lower end of the Wilson score interval: with z 1.28, nine times in ten the rate is above it."""
    if seen == 0:
        return 0.0
    rate = hits / seen
    spread = z * sqrt(rate * (1 - rate) / seen + z * z / (4 * seen * seen))
    return max(0.0, (rate + z * z / (2 * seen) - spread) / (1 + z * z / seen))
