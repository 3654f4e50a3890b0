"""The odds of many patterns in one context at once: what `estimate.backed_off` says of each rank of each pattern.

The counts lie by context, so that a context costs as much as there are patterns that know it. Ranks lie one after
the other, the first of all patterns first; patterns with more ranks stand before those with fewer.
"""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paste_proxy.mining.estimate import BACK_OFF_WEIGHT, PRIOR_MEAN, PRIOR_WEIGHT, Count

Odds = tuple[float, float]
"""Probability to be asked for in the next turn, and within the horizon."""

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_SHARED, _KEPT = 2, 16
"""Contexts that many moments have in common, and how many such beginnings are kept: those used last."""


@dataclass(frozen=True, slots=True)
class ManyOdds:
    """Odds of all ranks of all patterns."""

    next: _Floats
    ever: _Floats
    starts: Sequence[int]
    """Where each rank begins, and where the last one ends."""

    def best(self, values: _Floats) -> _Floats:
        """The greatest of each pattern's values."""
        best = values[self.starts[0] : self.starts[1]].copy()
        for start, end in zip(self.starts[1:], self.starts[2:], strict=False):
            some = best[: end - start]
            np.maximum(some, values[start:end], out=some)
        return best

    def of(self, patterns: Sequence[int]) -> tuple[_Floats, _Floats]:
        """The odds, next and ever, of some patterns: a row each, 0 for ranks that a pattern does not have."""
        starts, ends = np.array(self.starts[:-1]), np.array(self.starts[1:])
        places = starts + np.array(patterns)[:, None]
        inside = places < ends
        places[~inside] = 0
        return np.where(inside, self.next[places], 0.0), np.where(inside, self.ever[places], 0.0)


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
    """The counts of patterns by context.

    Args:
        patterns: of each the counts of its ranks, one at least, by context; those with most ranks first.
    """

    def __init__(self, patterns: Sequence[Sequence[Mapping[str, Count]]]) -> None:
        most = len(patterns[0]) if patterns else 1
        by_rank = [[ranks[rank] for ranks in patterns if rank < len(ranks)] for rank in range(most)]
        self._starts = np.cumsum([0, *map(len, by_rank)]).tolist()
        columns: dict[str, tuple[array[int], ...]] = defaultdict(lambda: tuple(array("q") for _ in range(4)))
        for at, counts in enumerate(counts for of_rank in by_rank for counts in of_rank):
            for context, count in counts.items():
                for column, value in zip(columns[context], (at, count.seen, count.next, count.ever), strict=True):
                    column.append(value)
        self._rows = {context: _Rows(*map(np.array, some)) for context, some in columns.items()}
        self._known: dict[tuple[str, ...], tuple[_Floats, _Floats]] = {}
        self._work = np.empty(self._starts[-1]), np.empty(self._starts[-1])

    def odds(self, contexts: tuple[str, ...]) -> ManyOdds:
        """The odds in contexts of growing length; they hold until the next call."""
        shared = contexts[:_SHARED]
        next_, ever = self._work
        for work, values in zip(self._work, self._after(shared), strict=True):
            np.copyto(work, values)
        for context in contexts[_SHARED:]:
            self._weigh(context, next_, ever, BACK_OFF_WEIGHT)
        np.maximum(next_, ever, out=ever)
        return ManyOdds(next_, ever, self._starts)

    def _after(self, contexts: tuple[str, ...]) -> tuple[_Floats, _Floats]:
        """Posterior to the counts in the first contexts; kept, since many moments have them in common."""
        known = self._known.pop(contexts, None)
        if known is None:
            size = self._starts[-1]
            known, weight = (np.full(size, PRIOR_MEAN), np.full(size, PRIOR_MEAN)), PRIOR_WEIGHT
            for context in contexts:
                self._weigh(context, *known, weight)
                weight = BACK_OFF_WEIGHT
            if len(self._known) >= _KEPT:
                del self._known[next(iter(self._known))]
        self._known[contexts] = known
        return known

    def _weigh(self, context: str, next_: _Floats, ever: _Floats, weight: float) -> None:
        rows = self._rows.get(context)
        if rows is not None:
            rows.weigh(next_, ever, weight)
