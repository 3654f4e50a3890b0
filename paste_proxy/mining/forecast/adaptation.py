"""What the sidecar's own sessions teach since the pool was mined: corrections of its models, and habits.

A moment teaches once it is known what came: for the very next call when its turn is over, for the calls within the
horizon when that has passed. All places where a session is (its workspace, everywhere) learn from it together, as
one sum of corrections; what only one workspace does is then learned there, since that one learns faster.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import log

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.habits import Habit, Habits, may_be_habit
from paste_proxy.mining.forecast.lessons import Lesson, Lessons
from paste_proxy.mining.forecast.model import NONE, Model, Weighed, sigmoid
from paste_proxy.mining.forecast.traits import PATTERN, Trait
from paste_proxy.mining.odds import Odds
from paste_proxy.mining.pool import Pool

_LEAST_WRONG = 0.05
"""An alternative that was wrong by less teaches nothing worth its time."""
_LEAST_WEIGHT = 1e-6
"""What is left of a lesson that was dropped; no more is kept of its trait."""
_DEMOTED = -0.7
"""Log odds by which a pattern is demoted: half of what they were."""
LOCAL_RATE, GLOBAL_RATE = 0.1, 0.03
_NOTHING = Lesson()


@dataclass(slots=True)
class Place:
    """The memory of one place."""

    next: Lessons
    ever: Lessons
    habits: Habits = field(default_factory=Habits)
    moments: int = 0
    """That it has learned from."""

    @classmethod
    def fresh(cls, rate: float = LOCAL_RATE) -> "Place":
        """One that has seen nothing."""
        return cls(Lessons(rate), Lessons(rate))

    def copy(self, *, habits: bool = True) -> "Place":
        """The same as it stands now, with its habits or without; made in little time."""
        known = self.habits.copy() if habits else Habits()
        return Place(self.next.copy(), self.ever.copy(), known, self.moments)

    def faded(self, part: float) -> None:
        """Time has passed."""
        for lessons in (self.next, self.ever):
            lessons.faded(part)
        self.habits.faded(part)


class Adaptation:
    """A pool whose models are corrected as sessions go; shared by all sessions of a place.

    Args:
        places: the nearest first; its habits are the ones that count.
        shared: whether what one session asks of a tool may be offered to another.
        harmless: whether an invocation holds nothing that is a secret.
    """

    def __init__(
        self,
        pool: Pool,
        places: Sequence[Place],
        *,
        shared: Callable[[str], bool] = lambda tool: True,
        harmless: Callable[[Invocation], bool] = lambda invocation: True,
    ) -> None:
        self._places = places
        self._shared, self._harmless = shared, harmless
        self._next, self._ever = (
            [dict(model.next) for model in pool.models],
            [dict(model.ever) for model in pool.models],
        )
        models = [
            replace(model, next=next_, ever=ever)
            for model, next_, ever in zip(pool.models, self._next, self._ever, strict=True)
        ]
        self.pool = replace(pool, models=tuple(models))
        for place in places:
            _correct(self._next, ((trait, lesson.weight) for trait, lesson in place.next.of.items()))
            _correct(self._ever, ((trait, lesson.weight) for trait, lesson in place.ever.of.items()))

    def usual(self, after: str, own: Container[str]) -> list[Habit]:
        """What is usual where the sessions are, see `Habits.usual`."""
        return [habit for habit in self._places[0].habits.usual(after, own) if self._shared(habit.invocation.tool)]

    def note(self, invocation: Invocation, after: str, *, first: bool) -> None:
        """A session made a call, see `Habits.note`. One that is its own business leaves no habit."""
        if self._shared(invocation.tool) and may_be_habit(invocation) and self._harmless(invocation):
            self._places[0].habits.note(invocation, after, first=first)

    @property
    def habits(self) -> int:
        """How many invocations are remembered where the sessions are."""
        return len(self._places[0].habits.known)

    @property
    def moments(self) -> int:
        """How many were learned from, by the nearest place."""
        return self._places[0].moments

    def demoted(self) -> list[str]:
        """The ids of the patterns whose odds were at least halved."""
        known = (trait for place in self._places for trait in tuple(place.ever.of))  # as it is now, whoever learns
        patterns = {trait for trait in known if trait.startswith(PATTERN)}
        return sorted(trait.removeprefix(PATTERN) for trait in patterns if self._correction(trait)[1] <= _DEMOTED)

    def learned_of(self, pattern: str) -> Odds:
        """Log odds that sessions have added to a pattern's own: to come at once, and within the horizon."""
        return self._correction(PATTERN + pattern)

    def odds(self, pattern: str, odds: Odds) -> Odds:
        """The odds of a pattern that no model weighs, as far as they have been corrected."""
        next_, ever = self.learned_of(pattern)
        if not next_ and not ever:
            return odds
        shifted = _shifted(odds[0], next_)
        return shifted, max(shifted, _shifted(odds[1], ever))

    def learn_next(self, moment: Sequence[Weighed], asked: Collection[str]) -> None:
        """The calls of the next turn are known."""
        right = sum(one.invocation.key in asked for _, one, _ in moment)
        slopes: dict[str, float] = defaultdict(float)
        none = 1.0
        for mass, one, told in moment:
            none -= mass
            _blame(slopes, told, mass - (one.invocation.key in asked) / max(1, right))
        _blame(slopes, [(NONE, 1.0)], none - (not right))
        for place in self._places:
            place.moments += 1
            _correct(self._next, place.next.step(slopes))

    def learn_ever(self, model: Model, moment: Iterable[Weighed], asked: Collection[str]) -> None:
        """The calls within the horizon are known."""
        slopes: dict[str, float] = defaultdict(float)
        for _, one, told in moment:
            _blame(slopes, told, model.chance(one, told) - (one.invocation.key in asked))
        for place in self._places:
            _correct(self._ever, place.ever.step(slopes))

    def learn_pattern(self, pattern: str, odds: Odds, came: tuple[bool, bool]) -> None:
        """What a pattern that no model weighs gave was asked for next, or within the horizon, or not."""
        for at, (chance, so) in enumerate(zip(odds, came, strict=True)):
            for place in self._places:
                lessons = place.ever if at else place.next
                changes = lessons.step({PATTERN + pattern: chance - so})
                _correct(self._ever if at else self._next, changes)

    def _correction(self, trait: str) -> Odds:
        next_ = sum(place.next.of.get(trait, _NOTHING).weight for place in self._places)
        return next_, sum(place.ever.of.get(trait, _NOTHING).weight for place in self._places)


def _blame(slopes: dict[str, float], told: Iterable[Trait], wrong: float) -> None:
    if abs(wrong) >= _LEAST_WRONG:
        for trait, value in told:
            slopes[trait] += wrong * value


def _correct(weights: Sequence[dict[str, float]], changes: Iterable[tuple[str, float]]) -> None:
    for trait, change in changes:
        for each in weights:
            weight = each.get(trait, 0.0) + change
            if abs(weight) < _LEAST_WEIGHT:
                each.pop(trait, None)
            else:
                each[trait] = weight


def _shifted(probability: float, by: float) -> float:
    kept = min(0.999, max(0.001, probability))
    return sigmoid(log(kept / (1 - kept)) + by)
