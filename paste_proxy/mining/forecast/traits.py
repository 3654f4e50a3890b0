"""What speaks for and against an invocation that may come next, as numbers a linear model weighs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import log

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.habits import Habit
from paste_proxy.mining.forecast.recall import Recall
from paste_proxy.mining.odds import Odds

Trait = tuple[str, float]
Part = tuple[Trait, ...]
"""Traits that are told together."""
PATTERN = "P:"
"""Begins the trait of what one pattern gives; by it, a pattern is promoted or demoted on its own."""
_LEAST_ODDS = -7.0
NOT_FOLLOWING = 9
_KEPT = 4_096
"""Parts of each sort."""


@dataclass(slots=True)
class Seen:
    """Where an invocation was come upon, and what was said of it there."""

    invocation: Invocation
    argued: float | None = None
    """Log probability of its arguments, given the tool."""
    rank: int = 9
    """Among the invocations of the tool by that probability."""
    chosen: float = 0.0
    """Probability of the whole invocation by the choice."""
    frequent: bool = False
    next: float = 0.0
    """Best odds of a pattern to be the very next call."""
    ever: float = 0.0
    votes: int = 0
    """Patterns that give it."""
    pattern: str = ""
    """The id of the best of them."""
    following: int = NOT_FOLLOWING
    """Its place among the next items of the list that the session works through."""
    habit: Habit | None = None
    """What other sessions of the place say of it."""
    measures: tuple[float, ...] = ()
    """See `measures`; none for a model without a judgement."""
    soon: float = 0.0
    """What its measures add to its log odds to be the very next call."""
    later: float = 0.0
    """To those of a call within the horizon."""

    def vote(self, odds: Odds, pattern: str) -> None:
        """A pattern gives it."""
        next_, ever = odds
        self.next, self.votes = max(self.next, next_), self.votes + 1
        if ever > self.ever:
            self.ever, self.pattern = ever, pattern


def bucket(age: int) -> int:
    """Classes of distance in calls: 0, 1, 2-3, 4-7, 8-15, more."""
    return min(age.bit_length(), 5)


def logit(probability: float) -> float:
    """The log odds of a probability, kept within bounds."""
    return log((probability + 0.005) / (1 - probability + 0.005)) / 4


class Told:
    """The traits of an invocation, in parts: what others share is the same part for all of them."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts

    def __iter__(self) -> Iterator[Trait]:
        return chain.from_iterable(self.parts)


class Teller:
    """Tells the traits of what may come next at one moment.

    Args:
        tools: the probability of each tool, in whatever invocation.
        own: the probability of each label of the choice.
        last: the outcome of what happened last, see `contexts.outcome`.
        knows: whether any tool is known; where none is, a repeat tells how its tool stands to the last one.
    """

    def __init__(
        self, tools: Mapping[str, float], own: Mapping[str, float], past: Recall, last: str, *, knows: bool
    ) -> None:
        self._tools, self._own, self._past, self._last, self._knows = tools, own, past, last, knows
        self._chances: dict[tuple[str, str], tuple[Part, float]] = {}

    def traits(self, one: Seen) -> Told:
        """The traits of an invocation."""
        tool, key, past = one.invocation.tool, one.invocation.key, self._past
        chance, free = self._chance(tool, key if one.frequent else tool)
        parts = [chance]
        if one.frequent:
            parts.append((("frequent", 1.0), ("chosen", log(one.chosen + 1e-3) / 3)))
        parts.append(_UNARGUED if one.argued is None else _argued(tool, one.argued, one.rank, free))
        parts.append(_voted(one) if one.votes else _UNVOTED)
        if one.following < NOT_FOLLOWING:
            parts.append(_following(tool, one.following))
        if one.habit is not None:
            parts.append(tuple(one.habit.traits()))
        age = past.age.get(key)
        if age is None:
            parts.append(_new(tool))
        else:
            times, followed, nth, failed = past.times[key], past.followed[key], past.nth[key], key in past.failed
            usual = followed / times
            parts.append(
                _again(tool, self._last, bucket(age), min(times, 4), min(nth, 5), failed, min(followed, 3), usual)
            )
        for value in one.invocation.arguments.values():
            if isinstance(value, str) and (touch := past.touched.get(value)) is not None:
                parts.append(_touched(tool, touch[0], bucket(touch[1])))
                break
        if age is not None and not self._knows:
            parts.append(_of_any_tool(tool, self._last, bucket(age), min(nth, 4), min(followed, 2)))
        return Told(parts)

    def _chance(self, tool: str, label: str) -> tuple[Part, float]:
        """What the chances of a tool and of a label tell, and the log of the latter."""
        known = self._chances.get((tool, label))
        if known is None:
            of_tool, free = log(self._tools.get(tool, 0.0) + 1e-3), log(self._own.get(label, 0.0) + 1e-3)
            part = ("one", 1.0), ("tool", of_tool / 3), ("free", free / 3), (f"T:{tool}", 1.0)
            known = self._chances[tool, label] = part, free
        return known


_UNARGUED: Part = (("unargued", 1.0),)
_UNVOTED: Part = (("unvoted", 1.0),)


def _argued(tool: str, odds: float, rank: int, free: float) -> Part:
    odds = max(odds, _LEAST_ODDS)
    return ("argued", odds / 3), (f"rank:{min(rank, 6)}", 1.0), ("joint", (free + odds) / 4), (f"A:{tool}", odds / 3)


def _voted(one: Seen) -> Part:
    odds = ("next", logit(one.next)), ("ever", logit(one.ever))
    return *odds, (f"votes:{min(one.votes, 4)}", 1.0), (f"{PATTERN}{one.pattern}", 1.0)


@lru_cache(maxsize=_KEPT)
def _following(tool: str, place: int) -> Part:
    return ("following", 1.0), (f"following:{place}", 1.0), (f"L:{tool}", 1.0)


@lru_cache(maxsize=_KEPT)
def _new(tool: str) -> Part:
    return ("new", 1.0), (f"N:{tool}", 1.0)


@lru_cache(maxsize=_KEPT)
def _again(
    tool: str,
    last: str,
    age: int,
    times: int,
    nth: int,
    failed: bool,
    followed: int,
    usual: float,
) -> Part:
    """What the session's own past tells of a call that it made."""
    found = [
        "repeat",
        f"age:{age}",
        f"R:{tool}:{age}",
        f"times:{times}",
        f"after:{last}>{tool}",
        f"nth:{tool}:{nth}",
        f"nth:{last}>{tool}:{min(nth, 3)}",
    ]
    if failed:
        found += ["failed", f"F:{tool}"]
    if followed:
        found += ["followed", f"followed:{followed}", f"S:{tool}"]
    part = tuple((name, 1.0) for name in found)
    return (*part, ("usual", usual)) if followed else part


@lru_cache(maxsize=_KEPT)
def _touched(tool: str, toucher: str, distance: int) -> Part:
    return (f"touch:{distance}", 1.0), (f"touch:{toucher}>{tool}:{distance}", 1.0)


@lru_cache(maxsize=_KEPT)
def _of_any_tool(tool: str, last: str, age: int, nth: int, followed: int) -> Part:
    """What a repeat tells where no tool is known: how its tool stands to the last one."""
    status, _, tool_before = last.partition(" ")
    kin = f"{status} {'same' if tool_before == tool else 'other'}"
    names = f"any {kin}", f"any {kin} nth {nth}", f"any {kin} age {age}", f"any {kin} followed {followed}"
    return tuple((name, 1.0) for name in names)
