"""What a pool expects in a context, before anything is bound: the likely patterns and their odds.

The odds depend on the context alone, so they are worked out once for each context that comes up and
shared by all sessions; only the patterns that matter there are then bound to a session's values.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from paste_proxy.mining.estimate import backed_off
from paste_proxy.mining.pattern import Pattern

_LEAST_EVER = 0.02
"""Odds below which a binding is not worth making."""
_LATER_WEIGHT = 0.1
_MOST_PATTERNS = 48
_CONTEXTS_KEPT = 2_048

Odds = tuple[float, float]
"""Probability to be asked for in the next turn, and within the horizon."""


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
        self._patterns = tuple(patterns)
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
        found: list[Expected] = []
        for pattern in self._patterns:
            odds = [backed_off([counts.get(context) for context in contexts]) for counts in pattern.ranks]
            while odds and odds[-1][1] < _LEAST_EVER:
                odds.pop()
            if odds:
                found.append(Expected(pattern, tuple(odds)))
        found.sort(key=lambda one: (-one.worth, one.pattern.id))
        return tuple(found[:_MOST_PATTERNS])
