"""Corrections of trait weights that one place teaches, by AdaGrad (Duchi et al. 2011), drawn back towards none.

Each lesson keeps the sum of its squared slopes, so that a trait met often moves in small steps and a new one in
large ones. Whatever is not taught again fades with every moment; the least of them go first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt

from paste_proxy.mining.forecast.traits import PATTERN

_STEADY = 1.0
"""Squared slopes that every lesson begins with: one moment teaches little."""
_FADE = 5e-4
"""Of a correction, lost at each moment that teaches about the same trait."""
_OWN = 4.0
"""How much faster the trait of one pattern is learned than those that it shares with others."""
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

    def step(self, slopes: Mapping[str, float]) -> Iterator[tuple[str, float]]:
        """Go down the slopes of one moment's loss; yields by how much each correction changed."""
        for trait, slope in slopes.items():
            lesson = self.of.get(trait)
            if lesson is None:
                lesson = self.of[trait] = Lesson()
            lesson.slopes += slope * slope
            before = lesson.weight
            rate = self.rate * _OWN if trait.startswith(PATTERN) else self.rate
            wanted = before * (1 - _FADE) - rate * slope / sqrt(_STEADY + lesson.slopes)
            lesson.weight = max(-_LARGEST, min(_LARGEST, wanted))
            yield trait, lesson.weight - before
        if len(self.of) > _SPARE * MOST:
            for trait in sorted(self.of, key=lambda trait: abs(self.of[trait].weight))[: len(self.of) - MOST]:
                yield trait, -self.of.pop(trait).weight

    def faded(self, part: float) -> None:
        """Only so much of what was learned is left: time has passed."""
        for lesson in self.of.values():
            lesson.weight *= part
            lesson.slopes *= part
