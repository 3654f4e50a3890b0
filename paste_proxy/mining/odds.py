"""The odds of many patterns in one context at once: what `estimate.backed_off` says of each rank of each pattern.

The counts lie by context, so that a context costs as much as there are patterns that know it: a long one is told by
what it changes. Ranks lie one after the other, the first of all patterns first; patterns with more ranks stand before
those with fewer.
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
_KEPT = 16
"""Beginnings of contexts whose odds are kept: those used last."""
_MANY = 0.25
"""A context that so many of the ranks know begins the contexts of many moments."""


@dataclass(frozen=True, slots=True)
class ManyOdds:
    """Odds of some patterns, a row for each and a column for each rank; 0 for ranks that a pattern does not have."""

    patterns: _Integers
    next: _Floats
    ever: _Floats


@dataclass(frozen=True, slots=True)
class _Rows:
    """The counts in one context: of which ranks, and what came of them."""

    at: _Integers
    seen: _Floats
    next: _Floats
    ever: _Floats

    def weigh(self, next_: _Floats, ever: _Floats, weight: float) -> tuple[_Floats, _Floats]:
        """Make the odds posterior to these counts, in place; what they were before."""
        before = next_[self.at], ever[self.at]
        whole = self.seen + weight
        next_[self.at] = (self.next + weight * before[0]) / whole
        ever[self.at] = (self.ever + weight * before[1]) / whole
        return before


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
        self._rows = {
            context: _Rows(np.array(at), *(np.array(counts, np.float64) for counts in some))
            for context, (at, *some) in columns.items()
        }
        self._pattern = np.concatenate([np.arange(len(of_rank)) for of_rank in by_rank])
        self._known: dict[tuple[str, ...], tuple[_Floats, _Floats]] = {}

    def beginning(self, contexts: tuple[str, ...]) -> tuple[str, ...]:
        """The first of the contexts: what is said of most patterns there holds in longer ones, too."""
        second = self._rows.get(contexts[1]) if len(contexts) > 1 else None
        return contexts[: 1 if second is None or len(second.at) < _MANY * len(self._pattern) else 2]

    def all(self, beginning: tuple[str, ...]) -> ManyOdds:
        """The odds of all patterns in the first contexts."""
        return self._of(np.arange(self._starts[1]), *self._after(beginning))

    def changed(self, beginning: tuple[str, ...], further: tuple[str, ...]) -> ManyOdds:
        """The odds in further contexts, of growing length, of those patterns that know one of these."""
        next_, ever = self._after(beginning)
        told = [rows for context in further if (rows := self._rows.get(context)) is not None]
        before = []
        is_known = np.zeros(self._starts[1], dtype=bool)
        for rows in told:
            before.append((rows.at, *rows.weigh(next_, ever, BACK_OFF_WEIGHT)))
            is_known[self._pattern[rows.at]] = True
        odds = self._of(np.flatnonzero(is_known), next_, ever)
        for at, next_before, ever_before in reversed(before):
            next_[at], ever[at] = next_before, ever_before
        return odds

    def _of(self, patterns: _Integers, next_: _Floats, ever: _Floats) -> ManyOdds:
        places = np.array(self._starts[:-1]) + patterns[:, None]
        inside = places < np.array(self._starts[1:])
        places[~inside] = 0
        nexts, evers = np.where(inside, next_[places], 0.0), np.where(inside, ever[places], 0.0)
        return ManyOdds(patterns, nexts, np.maximum(nexts, evers))

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
