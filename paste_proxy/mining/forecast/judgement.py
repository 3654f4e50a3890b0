"""What measures taken together say beyond the traits: a small network, one hidden layer, whose sum is added to theirs.

Linear traits and a network that are trained together: Cheng et al. 2016, Wide & Deep Learning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Matrix: TypeAlias = npt.NDArray[np.float32]

FARTHEST = 4.0
"""Standard deviations beyond which a measure says no more."""


@dataclass(frozen=True)
class Judgement:
    """By measure, in the order of `MEASURES`; empty where nothing was learned."""

    means: Sequence[float] = ()
    spreads: Sequence[float] = ()
    """Standard deviations, above 0."""
    inner: Sequence[Sequence[float]] = ()
    """What a measure says to each of the hidden units."""
    shifts: Sequence[float] = ()
    """Of each hidden unit."""
    outer: Sequence[float] = ()
    """What each hidden unit says."""

    def __call__(self, rows: Matrix | Sequence[Sequence[float]]) -> list[float]:
        """What it adds to the log odds of each row of measures."""
        if not self.outer or not len(rows):
            return [0.0] * len(rows)
        inner, shifts, outer, means, scale = self._arrays
        even = np.clip((np.asarray(rows, np.float32) - means) * scale, -FARTHEST, FARTHEST)
        said: list[float] = (np.tanh(even @ inner + shifts) @ outer).tolist()
        return said

    @cached_property
    def _arrays(self) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]:
        inner, shifts, outer, means = (
            np.array(some, np.float32) for some in (self.inner, self.shifts, self.outer, self.means)
        )
        return inner, shifts, outer, means, np.array([1 / spread for spread in self.spreads], np.float32)


NO_JUDGEMENT = Judgement()


def matrix(rows: Sequence[Sequence[float]]) -> Matrix:
    """Rows of equal length as an array."""
    values = np.fromiter(chain.from_iterable(rows), np.float32, sum(map(len, rows)))
    return values.reshape(len(rows), -1 if rows else 0)
