"""Corrections of trait weights that one place teaches, by AdaGrad (Duchi et al. 2011), drawn back towards none.

Each lesson keeps the sum of its squared slopes, so that a trait met often moves in small steps and a new one in
large ones. Whatever is not taught again fades with every moment; the least of them go first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt

from paste_proxy.mining.forecast.traits import PATTERN

_STEADY = 1.0
"""Squared slopes that every lesson begins with: one moment teaches little."""
_FADE = 5e-4
"""Of a correction, lost at each moment that teaches about the same trait."""
_OWN = 4.0
"""How much faster the trait of one pattern is learned than those that it shares with others."""
_LEAST_SLOPE = 0.02
_LARGEST = 6.0
_SPARE = 1.25
MOST = 2_048


@dataclass(slots=True)
class Lesson:
    """What was learned of one trait."""

    weight: float = 0.0
    slopes: float = 0.0
    """The sum of squared slopes."""


@dataclass(slots=True)
class Lessons:
    """By trait; bounded."""

    rate: float
    of: dict[str, Lesson] = field(default_factory=dict)

    def step(self, slopes: Mapping[str, float]) -> list[tuple[str, float]]:
        """Go down the slopes of one moment's loss; returns by how much each correction changed."""
        changes: list[tuple[str, float]] = []
        of = self.of
        for trait, slope in slopes.items():
            if -_LEAST_SLOPE < slope < _LEAST_SLOPE:
                continue
            lesson = of.get(trait)
            if lesson is None:
                lesson = of[trait] = Lesson()
            lesson.slopes += slope * slope
            before = lesson.weight
            rate = self.rate * _OWN if trait.startswith(PATTERN) else self.rate
            wanted = before * (1 - _FADE) - rate * slope / sqrt(_STEADY + lesson.slopes)
            lesson.weight = clamped(wanted)
            changes.append((trait, lesson.weight - before))
        if len(of) > _SPARE * MOST:
            least = sorted(of, key=lambda trait: abs(of[trait].weight))[: len(of) - MOST]
            changes += [(trait, -of.pop(trait).weight) for trait in least]
        return changes

    def copy(self) -> "Lessons":
        """The same as they stand now."""
        return Lessons(self.rate, {trait: Lesson(one.weight, one.slopes) for trait, one in self.of.items()})

    def faded(self, part: float) -> None:
        """Only so much of what was learned is left: time has passed."""
        for lesson in self.of.values():
            lesson.weight *= part
            lesson.slopes *= part


def clamped(weight: float) -> float:
    """A correction, as large as one may be."""
    return max(-_LARGEST, min(_LARGEST, weight))
