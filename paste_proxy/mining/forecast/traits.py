"""What speaks for and against an invocation that may come next, as numbers a linear model weighs."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.habits import Habit
from paste_proxy.mining.forecast.recall import Recall
from paste_proxy.mining.odds import Odds

Trait = tuple[str, float]
PATTERN = "P:"
"""Begins the trait of what one pattern gives; by it, a pattern is promoted or demoted on its own."""
_LEAST_ODDS = -7.0
NOT_FOLLOWING = 9


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


def traits(one: Seen, tools: Mapping[str, float], own: Mapping[str, float], past: Recall, last: str) -> list[Trait]:
    """The traits of an invocation.

    Args:
        tools: the probability of each tool, in whatever invocation.
        own: the probability of each label of the choice.
        last: the outcome of what happened last, see `contexts.outcome`.
    """
    tool, key = one.invocation.tool, one.invocation.key
    of_tool = tools.get(tool, 0.0)
    free = own.get(key if one.frequent else tool, 0.0)
    found: list[Trait] = [
        ("one", 1.0),
        ("tool", log(of_tool + 1e-3) / 3),
        ("free", log(free + 1e-3) / 3),
        (f"T:{tool}", 1.0),
    ]
    if one.frequent:
        found += [("frequent", 1.0), ("chosen", log(one.chosen + 1e-3) / 3)]
    if one.argued is None:
        found.append(("unargued", 1.0))
    else:
        found += [
            ("argued", max(one.argued, _LEAST_ODDS) / 3),
            (f"rank:{min(one.rank, 6)}", 1.0),
            ("joint", (log(free + 1e-3) + max(one.argued, _LEAST_ODDS)) / 4),
            (f"A:{tool}", max(one.argued, _LEAST_ODDS) / 3),
        ]
    if one.votes:
        found += [("next", logit(one.next)), ("ever", logit(one.ever)), (f"votes:{min(one.votes, 4)}", 1.0)]
        found.append((f"{PATTERN}{one.pattern}", 1.0))
    else:
        found.append(("unvoted", 1.0))
    if one.following < NOT_FOLLOWING:
        found += [("following", 1.0), (f"following:{one.following}", 1.0), (f"L:{tool}", 1.0)]
    if one.habit is not None:
        found += one.habit.traits()
    found += _remembered(one.invocation, key, past, last)
    return found


def of_any_tool(invocation: Invocation, past: Recall, last: str) -> list[Trait]:
    """What a repeat tells where no tool is known: the traits above, with how its tool stands to the last one."""
    nth = past.nth.get(invocation.key)
    if nth is None:
        return []
    status, _, tool = last.partition(" ")
    kin = f"{status} {'same' if tool == invocation.tool else 'other'}"
    age, followed = bucket(past.age[invocation.key]), past.followed[invocation.key]
    return [
        (f"any {kin}", 1.0),
        (f"any {kin} nth {min(nth, 4)}", 1.0),
        (f"any {kin} age {age}", 1.0),
        (f"any {kin} followed {min(followed, 2)}", 1.0),
    ]


def _remembered(invocation: Invocation, key: str, past: Recall, last: str) -> list[Trait]:
    tool = invocation.tool
    found: list[Trait] = []
    age = past.age.get(key)
    if age is None:
        found += [("new", 1.0), (f"N:{tool}", 1.0)]
    else:
        times, followed = past.times[key], past.followed[key]
        found += [
            ("repeat", 1.0),
            (f"age:{bucket(age)}", 1.0),
            (f"R:{tool}:{bucket(age)}", 1.0),
            (f"times:{min(times, 4)}", 1.0),
            (f"after:{last}>{tool}", 1.0),
            (f"nth:{tool}:{min(past.nth[key], 5)}", 1.0),
            (f"nth:{last}>{tool}:{min(past.nth[key], 3)}", 1.0),
        ]
        if key in past.failed:
            found += [("failed", 1.0), (f"F:{tool}", 1.0)]
        if followed:
            found += [("followed", 1.0), (f"followed:{min(followed, 3)}", 1.0), (f"S:{tool}", 1.0)]
            found.append(("usual", followed / times))
    for value in invocation.arguments.values():
        if isinstance(value, str) and (touch := past.touched.get(value)) is not None:
            toucher, distance = touch
            found += [(f"touch:{bucket(distance)}", 1.0), (f"touch:{toucher}>{tool}:{bucket(distance)}", 1.0)]
            break
    return found
