"""What a pool expects in a context, before anything is bound: the likely patterns and their odds.

The odds depend on the context alone, so they are worked out once for each context that comes up and
shared by all sessions; only the patterns that matter there are then bound to a session's values.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paste_proxy.mining.odds import ManyOdds, Odds, OddsTable
from paste_proxy.mining.pattern import Pattern

_LEAST_EVER = 0.02
"""Odds below which a binding is not worth making."""
_LATER_WEIGHT = 0.1
_MOST_PATTERNS = 48
_CONTEXTS_KEPT = 2_048
_BEGINNINGS_KEPT = 16

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class Expected(NamedTuple):
    """A pattern and the odds of its bindings by rank."""

    pattern: Pattern
    odds: tuple[Odds, ...]
    worth: float
    """That of its best rank."""


def worth(odds: Odds) -> float:
    """What orders candidates: above all, whether they are the very next call."""
    next_, ever = odds
    return next_ + _LATER_WEIGHT * ever


class Outlook:
    """The expectations of a set of patterns, by context; remembers the contexts met last."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        ranked = (pattern for pattern in patterns if pattern.ranks)
        self._patterns = sorted(ranked, key=lambda pattern: -len(pattern.ranks))
        self._by_id = np.argsort(np.argsort([pattern.id for pattern in self._patterns], kind="stable"))
        self._table = OddsTable([pattern.ranks for pattern in self._patterns])
        self._known: dict[tuple[str, ...], tuple[Expected, ...]] = {}
        self._usual: dict[tuple[str, ...], _Ranked] = {}

    def expected(self, contexts: tuple[str, ...]) -> tuple[Expected, ...]:
        """The likeliest patterns in the contexts that a stream ends in (`contexts.suffixes`), at most 48."""
        known = self._known.get(contexts)
        if known is None:
            if len(self._known) >= _CONTEXTS_KEPT:
                self._known.clear()
            known = self._known[contexts] = tuple(self._expect(contexts)) if self._patterns else ()
        return known

    def _expect(self, contexts: tuple[str, ...]) -> Iterator[Expected]:
        """The best of the patterns that the longer contexts tell of, and of the others, whose order is known."""
        beginning = self._table.beginning(contexts)
        usual = self._usual.get(beginning)
        if usual is None:
            if len(self._usual) >= _BEGINNINGS_KEPT:
                self._usual.clear()
            usual = self._usual[beginning] = _Ranked.of(self._table.all(beginning), self._by_id)
        changed = _Ranked.of(self._table.changed(beginning, contexts[len(beginning) :]), self._by_id, _MOST_PATTERNS)
        is_changed = np.zeros(len(self._patterns), dtype=bool)
        is_changed[changed.odds.patterns] = True
        others = usual.order[~is_changed[usual.order]][:_MOST_PATTERNS]
        some = sorted([*changed.places(changed.order), *usual.places(others)])[:_MOST_PATTERNS]
        return (ranked.expected(at, self._patterns) for _, _, ranked, at in some)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Odds of patterns, and what they are worth."""

    odds: ManyOdds
    ranks: _Integers
    """How many of its first ranks are worth making a binding of."""
    worths: _Floats
    """That of the best of these."""
    order: _Integers
    """Where those stand that have such ranks, the best first."""
    ids: _Integers
    """The places of the patterns in the order of their ids."""
    known: dict[int, Expected] = field(default_factory=dict)
    """By place, what has been asked for."""

    @classmethod
    def of(cls, odds: ManyOdds, by_id: _Integers, most: int | None = None) -> "_Ranked":
        """Put patterns in order; only so many if told, and those of the same worth as the last of them."""
        kept = np.logical_or.accumulate((odds.ever >= _LEAST_EVER)[:, ::-1], axis=1)[:, ::-1]
        ranks = kept.sum(axis=1)
        worths = np.where(kept, odds.next + _LATER_WEIGHT * odds.ever, 0.0).max(axis=1, initial=0.0)
        least = np.partition(worths, -most)[-most] if most is not None and len(worths) > most else 0.0
        some = np.flatnonzero((ranks > 0) & (worths >= least))
        ids = by_id[odds.patterns]
        return cls(odds, ranks, worths, some[np.lexsort((ids[some], -worths[some]))], ids)

    def places(self, order: _Integers) -> Iterator[tuple[float, int, "_Ranked", int]]:
        """What orders patterns, and where they stand."""
        for worth_, id_, at in zip(self.worths[order].tolist(), self.ids[order].tolist(), order.tolist(), strict=True):
            yield -worth_, id_, self, at

    def expected(self, at: int, patterns: Sequence[Pattern]) -> Expected:
        """What is expected of one of them."""
        known = self.known.get(at)
        if known is None:
            ranks = self.ranks.item(at)
            odds = zip(self.odds.next[at].tolist()[:ranks], self.odds.ever[at].tolist()[:ranks], strict=True)
            pattern = patterns[self.odds.patterns.item(at)]
            known = self.known[at] = Expected(pattern, tuple(odds), self.worths.item(at))
        return known
