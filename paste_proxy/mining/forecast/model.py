"""What forecasting goes by: a finder, and the weights that the traits of what it finds have."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import exp

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.mining.calibration import UNCALIBRATED, Calibration
from paste_proxy.mining.completions import Completion, covered
from paste_proxy.mining.forecast.finder import Executable, Finder, Found
from paste_proxy.mining.forecast.habits import Habit
from paste_proxy.mining.forecast.judgement import NO_JUDGEMENT, Judgement, matrix
from paste_proxy.mining.forecast.traits import Seen, Told, Trait
from paste_proxy.mining.window import Window

NONE = "none"
"""The trait of the alternative that nothing of what was found comes next."""

Weighed = tuple[float, Seen, Told]
"""Of what was found: the probability to be the very next call, where it was come upon, its traits."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A possible next call."""

    invocation: Invocation
    next: float
    """Probability to be asked for in the next turn."""
    ever: float
    """Within the horizon."""
    pattern: str
    """The id of the best pattern that gives it, if one does."""


@dataclass(frozen=True)
class Model:
    """For the very next call a softmax over what is found and `NONE`, for the calls within the horizon a sigmoid.

    Both of the sum of what traits weigh and of what a judgement of all measures adds.
    """

    finder: Finder
    next: Mapping[str, float]
    ever: Mapping[str, float]
    calibration: Calibration = UNCALIBRATED
    """Of `ever`."""
    soon: Judgement = NO_JUDGEMENT
    """Beside `next`."""
    later: Judgement = NO_JUDGEMENT
    """Beside `ever`."""

    @property
    def general(self) -> bool:
        """It knows no tool, so that it holds for any."""
        return not self.finder.arguments.shapes and not self.finder.choice.bias

    def foresee(self, window: Window, most: int, executable: Executable = lambda tool: True) -> list[Foreseen]:
        """The `most` likeliest next calls, the likeliest first."""
        return [self.foreseen(one) for one in self.weigh(window, executable)[:most]]

    def weigh(self, window: Window, executable: Executable, habits: Iterable[Habit] = ()) -> list[Weighed]:
        """All that may come next, the likeliest next call first."""
        found = self._judged(self.finder.find(window, executable, habits))
        masses = _masses(_sums(self.next, found), self.next.get(NONE, 0.0))
        weighed = [(mass, one, told) for mass, (one, told) in zip(masses, found, strict=True)]
        return sorted(weighed, key=lambda one: (-one[0], one[1].invocation.key))

    def foreseen(self, weighed: Weighed) -> Foreseen:
        """What was weighed, as a forecast."""
        next_, one, told = weighed
        return Foreseen(one.invocation, next_, max(next_, self._ever(one, told)), one.pattern)

    def glimpse(self, window: Window, barred: Executable, least: float) -> list[Foreseen]:
        """What is probable of tools that must not be run ahead; only after `weigh` looked at the same moment.

        Args:
            least: the probability, to be asked for within the horizon, below which it is left out.
        """
        found = self._judged(self.finder.glimpse(window, barred, least))
        chances = [(self._ever(one, told), one) for one, told in found]
        return [Foreseen(one.invocation, 0.0, ever, one.pattern) for ever, one in chances if ever >= least]

    def narrow(
        self, window: Window, outline: Outline, beside: Collection[str], habits: Iterable[Habit] = ()
    ) -> list[Completion]:
        """What a call that is being written may come to be.

        Args:
            beside: keys of what it is not.
        """
        completions = self.finder.complete(window, outline, habits)
        found = self._judged([one for one in completions if one[0].invocation.key not in beside])
        masses = _masses(_sums(self.next, found), None)
        return [
            Completion(one.invocation, covered(outline) * mass, self._ever(one, told))
            for mass, (one, told) in zip(masses, found, strict=True)
        ]

    def chance(self, one: Seen, told: Told) -> float:
        """The probability to come within the horizon, before calibration."""
        return sigmoid(score(self.ever, told) + one.later)

    def _judged(self, found: Found) -> Found:
        if not self.finder.judged:
            return found
        measures = matrix([one.measures for one, _ in found])
        for (one, _), soon, later in zip(found, self.soon(measures), self.later(measures), strict=True):
            one.soon, one.later = soon, later
        return found

    def _ever(self, one: Seen, told: Told) -> float:
        return self.calibration(self.chance(one, told))


def score(weights: Mapping[str, float], told: Iterable[Trait]) -> float:
    """The sum of traits by their weights."""
    return sum([weights[name] * value for name, value in told if name in weights])


def _sums(weights: Mapping[str, float], found: Found) -> list[float]:
    """The log odds of all that was found, to be the very next call; what several have in common is summed once."""
    known: dict[int, float] = {}
    sums = []
    for one, told in found:
        whole = 0.0
        for part in told.parts:
            of_part = known.get(id(part))
            if of_part is None:
                of_part = known[id(part)] = score(weights, part)
            whole += of_part
        sums.append(whole + one.soon)
    return sums


def sigmoid(weight: float) -> float:
    """The probability of log odds."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, weight))))


def _masses(weights: list[float], none: float | None) -> list[float]:
    """The softmax of weights, beside an alternative that is not of interest if there is one."""
    every = weights if none is None else [*weights, none]
    if not every:
        return []
    highest = max(every)
    masses = [exp(weight - highest) for weight in every]
    whole = sum(masses)
    return [mass / whole for mass in masses[: len(weights)]]
