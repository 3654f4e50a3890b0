"""What is usually asked for in one place: invocations that several of its sessions made, and after which outcome.

Counts fade: each call of the place makes the earlier ones count a little less.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from math import log

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import canonical_text
from paste_proxy.mining.extent import exceeds

HALF_LIFE = 4_000
"""Calls after which a count is worth half."""
_MOST = 512
_MOST_OUTCOMES = 64
_MOST_AFTER = 128
_SPARE = 1.25
"""A table is cut back to its bound once it is so many times as large, so that cutting is rare."""
_LONGEST = 400
"""Characters of arguments; what is longer was written for once."""
_AFTER, _ANYWHERE = 6, 4
_ORDER_LASTS, _OFTEN_LASTS = 8, 64
"""Calls for which an order of habits is good enough."""
_LARGEST_WEIGHT = 2.0**20
_OTHER_SESSIONS = 1.5
"""Two, faded a little."""


@dataclass(frozen=True, slots=True)
class Habit:
    """An invocation that several other sessions of the place made."""

    invocation: Invocation
    share: float
    """Of the calls after such an outcome."""
    sessions: float
    """How many made it, of late."""

    def traits(self) -> list[tuple[str, float]]:
        """What it tells of the invocation."""
        return [
            ("habit", 1.0),
            (f"habit:{min(round(self.sessions), 5)}", 1.0),
            ("usually", log(self.share + 1e-3) / 3),
            (f"H:{self.invocation.tool}", 1.0),
        ]


@dataclass(frozen=True, slots=True)
class Usual:
    """All that is known of an invocation, in units of the next call."""

    invocation: Invocation
    times: float
    sessions: float
    after: dict[str, float]
    """By outcome."""


@dataclass(slots=True)
class Known:
    """An invocation and its faded counts."""

    invocation: Invocation
    times: float = 0.0
    sessions: float = 0.0


@dataclass(slots=True)
class Habits:
    """Bounded: what was least asked for goes first."""

    known: dict[str, Known] = field(default_factory=dict)
    """By key."""
    after: dict[str, dict[str, float]] = field(default_factory=dict)
    """By outcome (see `contexts.outcome`) and key."""
    _weight: float = 1.0
    """What the next call counts: growing, which is the earlier ones fading."""
    _notes: int = 0
    _ordered: dict[str, tuple[int, list[tuple[str, float]]]] = field(default_factory=dict)
    """By outcome: when it was put in order, and the order."""
    _widespread: tuple[int, list[str]] = (0, [])
    """The same of those of most sessions, after whatever outcome."""

    def note(self, invocation: Invocation, after: str, *, first: bool) -> None:
        """A call was made after an outcome; `first`: by a session that had not made it before."""
        key = invocation.key
        one = self.known.get(key)
        if one is None:
            if not may_be_habit(invocation):
                return
            one = self.known[key] = Known(invocation)
        one.times += self._weight
        one.sessions += self._weight * first
        here = self.after.setdefault(after, {})
        here[key] = here.get(key, 0.0) + self._weight
        self._weight *= 2 ** (1 / HALF_LIFE)
        self._notes += 1
        self._bound(here)

    def usual(self, after: str, own: Container[str]) -> Iterator[Habit]:
        """What is asked for after an outcome, then what is asked for often, if two other sessions did.

        Args:
            own: keys that the session asked for itself.
        """
        for key, share in self._best(after):
            one = self.known.get(key)
            if one is not None and one.sessions - self._weight * (key in own) >= _OTHER_SESSIONS * self._weight:
                yield Habit(one.invocation, share, one.sessions / self._weight)

    def _best(self, after: str) -> list[tuple[str, float]]:
        """Keys and shares, as they were a few calls ago."""
        at, best = self._ordered.get(after, (0, []))
        if not best or self._notes - at >= _ORDER_LASTS:
            here = self.after.get(after, {})
            total = sum(here.values()) or 1.0
            keys = dict.fromkeys([*nlargest(_AFTER, here, key=here.__getitem__), *self._often()])
            best = [(key, here.get(key, 0.0) / total) for key in keys]
            if len(self._ordered) >= _MOST_OUTCOMES:
                self._ordered.clear()
            self._ordered[after] = self._notes, best
        return best

    def _often(self) -> list[str]:
        at, often = self._widespread
        if not often or self._notes - at >= _OFTEN_LASTS:
            often = nlargest(_ANYWHERE, self.known, key=lambda key: self.known[key].sessions)
            self._widespread = self._notes, often
        return often

    @classmethod
    def of(cls, several: Iterable[Usual]) -> "Habits":
        """What was `written`."""
        habits = cls()
        for one in several:
            key = one.invocation.key
            habits.known[key] = Known(one.invocation, one.times, one.sessions)
            for outcome, times in one.after.items():
                habits.after.setdefault(outcome, {})[key] = times
        return habits

    def copy(self) -> "Habits":
        """The same as they stand now, to be `written`."""
        known = {key: Known(one.invocation, one.times, one.sessions) for key, one in self.known.items()}
        return Habits(known, {outcome: dict(counts) for outcome, counts in self.after.items()}, self._weight)

    def written(self) -> list[Usual]:
        """All that is known."""
        after: dict[str, dict[str, float]] = {key: {} for key in self.known}
        for outcome, counts in self.after.items():
            for key, count in counts.items():
                after[key][outcome] = count / self._weight
        return [
            Usual(one.invocation, one.times / self._weight, one.sessions / self._weight, after[key])
            for key, one in self.known.items()
        ]

    @property
    def notes(self) -> int:
        """How many calls it has seen since it was made."""
        return self._notes

    def faded(self, part: float) -> None:
        """What is known counts only so much from now on: time has passed."""
        self._weight /= part
        self._settle()

    def _bound(self, here: dict[str, float]) -> None:
        if len(here) > _SPARE * _MOST_AFTER:
            _cut(here, sorted(here, key=here.__getitem__)[: len(here) - _MOST_AFTER])
        if len(self.after) > _MOST_OUTCOMES:
            _cut(self.after, [min(self.after, key=lambda outcome: sum(self.after[outcome].values()))])
        if len(self.known) > _SPARE * _MOST:
            gone = sorted(self.known, key=lambda key: self.known[key].times)[: len(self.known) - _MOST]
            _cut(self.known, gone)
            for counts in self.after.values():
                _cut(counts, [key for key in gone if key in counts])
        if self._weight > _LARGEST_WEIGHT:
            self._settle()

    def _settle(self) -> None:
        """Count in units of the next call again."""
        for one in self.known.values():
            one.times /= self._weight
            one.sessions /= self._weight
        self.after = {
            outcome: {key: count / self._weight for key, count in counts.items()}
            for outcome, counts in self.after.items()
        }
        self._weight = 1.0


def may_be_habit(invocation: Invocation) -> bool:
    """Whether it is short enough to be remembered."""
    arguments = invocation.arguments
    return not exceeds(arguments, _LONGEST) and len(canonical_text(arguments)) <= _LONGEST


def _cut(table: dict[str, Known] | dict[str, float] | dict[str, dict[str, float]], keys: list[str]) -> None:
    for key in keys:
        del table[key]
