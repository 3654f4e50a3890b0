"""Hits and misses, the older ones worth less."""

from dataclasses import dataclass

_MEMORY = 200.0
"""Beyond so many, all counts are halved: a model that is exchanged, or an agent with another task, shows soon."""


@dataclass(slots=True)
class Counts:
    """What came of a kind of guess."""

    right: float = 0.0
    wrong: float = 0.0

    def add(self, *, right: bool) -> None:
        """One more."""
        if self.right + self.wrong >= _MEMORY:
            self.right, self.wrong = self.right / 2, self.wrong / 2
        self.right += right
        self.wrong += not right

    def posterior(self, belief: float, weight: float) -> float:
        """Mean of the Beta posterior, from a first belief that counts for `weight` outcomes."""
        return (belief * weight + self.right) / (weight + self.right + self.wrong)
