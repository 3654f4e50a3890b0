"""The odds of many patterns in one context at once: what `estimate.backed_off` says of each rank of each pattern.

The counts lie by context, so that a context costs as much as there are patterns that know it.
"""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from paste_proxy.mining.estimate import BACK_OFF_WEIGHT, PRIOR_MEAN, PRIOR_WEIGHT, Count

Odds = tuple[float, float]
"""Probability to be asked for in the next turn, and within the horizon."""

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ManyOdds:
    """Odds of all ranks of all patterns, one pattern's after the other's."""

    next: _Floats
    ever: _Floats
    starts: _Integers
    """Where each pattern's ranks begin, and where the last one's end."""

    def best(self, values: _Floats) -> _Floats:
        """The greatest of each pattern's values."""
        return np.maximum.reduceat(values, self.starts[:-1]) if len(values) else values

    def of(self, pattern: int) -> list[Odds]:
        """The odds of one pattern by rank."""
        span = slice(self.starts[pattern], self.starts[pattern + 1])
        return list(zip(self.next[span].tolist(), self.ever[span].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The counts in one context: of which ranks, and what came of them."""

    at: _Integers
    seen: _Integers
    next: _Integers
    ever: _Integers

    def weigh(self, next_: _Floats, ever: _Floats, weight: float) -> None:
        """Make the odds posterior to these counts, in place."""
        whole = self.seen + weight
        next_[self.at] = (self.next + weight * next_[self.at]) / whole
        ever[self.at] = (self.ever + weight * ever[self.at]) / whole


class OddsTable:
    """The counts of patterns, each with one rank at least, by context."""

    def __init__(self, patterns: Sequence[Sequence[Mapping[str, Count]]]) -> None:
        self._starts = np.cumsum([0, *map(len, patterns)], dtype=np.int64)
        columns: dict[str, tuple[array[int], ...]] = defaultdict(lambda: tuple(array("q") for _ in range(4)))
        for rank, counts in enumerate(counts for ranks in patterns for counts in ranks):
            for context, count in counts.items():
                for column, value in zip(columns[context], (rank, count.seen, count.next, count.ever), strict=True):
                    column.append(value)
        self._rows = {context: _Rows(*map(np.array, some)) for context, some in columns.items()}

    def odds(self, contexts: Sequence[str]) -> ManyOdds:
        """The odds in contexts of growing length, the empty one first."""
        next_, ever = (values.copy() for values in self._anywhere)
        for context in contexts[1:]:
            rows = self._rows.get(context)
            if rows is not None:
                rows.weigh(next_, ever, BACK_OFF_WEIGHT)
        return ManyOdds(next_, np.maximum(next_, ever), self._starts)

    @cached_property
    def _anywhere(self) -> tuple[_Floats, _Floats]:
        """The odds in the empty context, which most patterns know."""
        size = int(self._starts[-1])
        next_, ever = np.full(size, PRIOR_MEAN), np.full(size, PRIOR_MEAN)
        rows = self._rows.get("")
        if rows is not None:
            rows.weigh(next_, ever, PRIOR_WEIGHT)
        return next_, ever
