"""What a pool expects in a context, before anything is bound: the likely patterns and their odds.

The odds depend on the context alone, so they are worked out once for each context that comes up and
shared by all sessions; only the patterns that matter there are then bound to a session's values.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paste_proxy.mining.odds import Odds, OddsTable
from paste_proxy.mining.pattern import Pattern

_LEAST_EVER = 0.02
"""Odds below which a binding is not worth making."""
_LATER_WEIGHT = 0.1
_MOST_PATTERNS = 48
_PORTION = 64
_CONTEXTS_KEPT = 2_048


@dataclass(frozen=True, slots=True)
class Expected:
    """A pattern and the odds of its bindings by rank."""

    pattern: Pattern
    odds: tuple[Odds, ...]

    @property
    def worth(self) -> float:
        """That of its best rank."""
        return max(map(worth, self.odds))


def worth(odds: Odds) -> float:
    """What orders candidates: above all, whether they are the very next call."""
    next_, ever = odds
    return next_ + _LATER_WEIGHT * ever


class Outlook:
    """The expectations of a set of patterns, by context; remembers the contexts met last."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._patterns = tuple(pattern for pattern in patterns if pattern.ranks)
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
            found += (one for at in some if (one := self._of(at, odds.of(at))) is not None)
            found.sort(key=lambda one: (-one.worth, one.pattern.id))
            del found[_MOST_PATTERNS:]
            if len(found) == _MOST_PATTERNS and found[-1].worth > left:
                break
        return tuple(found)

    def _of(self, at: int, odds: list[Odds]) -> Expected | None:
        while odds and odds[-1][1] < _LEAST_EVER:
            odds.pop()
        return Expected(self._patterns[at], tuple(odds)) if odds else None


def _descending(values: npt.NDArray[np.float64]) -> Iterator[tuple[list[int], float]]:
    """Where the values stand, the greatest first, in portions, each with the greatest value that is left."""
    order = np.argsort(-values) if len(values) <= _PORTION else np.argpartition(-values, _PORTION)
    for start in range(0, len(order), _PORTION):
        if start == _PORTION:
            order[start:] = order[start:][np.argsort(-values[order[start:]])]
        left = order[start + _PORTION :]
        yield order[start : start + _PORTION].tolist(), float(values[left[0]]) if len(left) else -1.0
