"""What a pool expects in a context, before anything is bound: the likely patterns and their odds.

The odds depend on the context alone, so they are worked out once for each context that comes up and
shared by all sessions; only the patterns that matter there are then bound to a session's values.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paste_proxy.mining.odds import Odds, OddsTable
from paste_proxy.mining.pattern import Pattern

_LEAST_EVER = 0.02
"""Odds below which a binding is not worth making."""
_LATER_WEIGHT = 0.1
_MOST_PATTERNS = 48
_PORTION = 52
_CONTEXTS_KEPT = 2_048


_Floats = npt.NDArray[np.float64]


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
        self._table = OddsTable([pattern.ranks for pattern in self._patterns])
        self._known: dict[tuple[str, ...], tuple[Expected, ...]] = {}

    def expected(self, contexts: tuple[str, ...]) -> tuple[Expected, ...]:
        """The likeliest patterns in the contexts that a stream ends in (`contexts.suffixes`), at most 48."""
        known = self._known.get(contexts)
        if known is None:
            if len(self._known) >= _CONTEXTS_KEPT:
                self._known.clear()
            known = self._known[contexts] = self._expect(contexts)
        return known

    def _expect(self, contexts: tuple[str, ...]) -> tuple[Expected, ...]:
        """The patterns in the order of what each could be worth, until no other can be among the best."""
        odds = self._table.odds(contexts)
        bounds = odds.best(odds.next + _LATER_WEIGHT * odds.ever)
        found: list[Expected] = []
        for some, left in _descending(bounds):
            found += self._some(some, *odds.of(some))
            found.sort(key=lambda one: (-one.worth, one.pattern.id))
            del found[_MOST_PATTERNS:]
            if len(found) == _MOST_PATTERNS and found[-1].worth > left:
                break
        return tuple(found)

    def _some(self, patterns: list[int], next_: _Floats, ever: _Floats) -> Iterator[Expected]:
        """Those of some patterns that are worth making a binding of, up to the last rank that is."""
        kept = np.logical_or.accumulate((ever >= _LEAST_EVER)[:, ::-1], axis=1)[:, ::-1]
        worths = np.where(kept, next_ + _LATER_WEIGHT * ever, 0.0).max(axis=1)
        rows = (patterns, next_.tolist(), ever.tolist(), kept.sum(axis=1).tolist(), worths.tolist())
        for at, nexts, evers, ranks, best in zip(*rows, strict=True):
            if ranks:
                odds = zip(nexts[:ranks], evers[:ranks], strict=True)
                yield Expected(self._patterns[at], tuple(odds), best)


def _descending(values: _Floats) -> Iterator[tuple[list[int], float]]:
    """Where the values stand, the greatest first, in portions, each with the greatest value that is left."""
    order = np.argsort(-values) if len(values) <= _PORTION else np.argpartition(values, -_PORTION - 1)[::-1]
    for start in range(0, len(order), _PORTION):
        if start == _PORTION:
            order[start:] = order[start:][np.argsort(-values[order[start:]])]
        left = order[start + _PORTION :]
        yield order[start : start + _PORTION].tolist(), float(values[left[0]]) if len(left) else -1.0
