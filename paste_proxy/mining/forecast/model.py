"""What forecasting goes by: a finder, and the weights that the traits of what it finds have."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import exp

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.mining.calibration import UNCALIBRATED, Calibration
from paste_proxy.mining.completions import Completion
from paste_proxy.mining.forecast.finder import Executable, Finder
from paste_proxy.mining.forecast.traits import Seen, Trait
from paste_proxy.mining.window import Window

NONE = "none"
"""The trait of the alternative that nothing of what was found comes next."""
_COVERED = 0.8
"""How often the call that has a name is among those found: recorded agents, held out."""
_COVERED_LATER = 0.6
"""The same once an argument is known."""


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
    """For the very next call a softmax over what is found and `NONE`, for the calls within the horizon a sigmoid."""

    finder: Finder
    next: Mapping[str, float]
    ever: Mapping[str, float]
    calibration: Calibration = UNCALIBRATED
    """Of `ever`."""

    def foresee(self, window: Window, most: int, executable: Executable = lambda tool: True) -> list[Foreseen]:
        """The `most` likeliest next calls, the likeliest first."""
        weighed = [(score(self.next, told), one, told) for one, told in self.finder.find(window, executable)]
        masses = _masses([weight for weight, _, _ in weighed], self.next.get(NONE, 0.0))
        ordered = sorted(zip(masses, weighed, strict=True), key=lambda one: (-one[0], one[1][1].invocation.key))
        return [self._foreseen(mass, one, told) for mass, (_, one, told) in ordered[:most]]

    def narrow(self, window: Window, outline: Outline, beside: Collection[str]) -> list[Completion]:
        """What a call that is being written may come to be.

        Args:
            beside: keys of what it is not.
        """
        completions = self.finder.complete(window, outline)
        found = [one for one in completions if one[0].invocation.key not in beside]
        masses = _masses([score(self.next, told) for _, told in found], None)
        covered = _COVERED_LATER if outline.known else _COVERED
        return [
            Completion(one.invocation, covered * mass, self._ever(told))
            for mass, (one, told) in zip(masses, found, strict=True)
        ]

    def _foreseen(self, next_: float, one: Seen, told: list[Trait]) -> Foreseen:
        return Foreseen(one.invocation, next_, max(next_, self._ever(told)), one.pattern)

    def _ever(self, told: list[Trait]) -> float:
        return self.calibration(sigmoid(score(self.ever, told)))


def score(weights: Mapping[str, float], told: list[Trait]) -> float:
    """The sum of traits by their weights."""
    return sum([weights[name] * value for name, value in told if name in weights])


def sigmoid(weight: float) -> float:
    """The probability of log odds."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, weight))))


def _masses(weights: list[float], none: float | None) -> list[float]:
    """The softmax of weights, beside an alternative that is not of interest if there is one."""
    every = weights if none is None else [*weights, none]
    if not every:
        return []
    highest = max(every)
    whole = sum(exp(weight - highest) for weight in every)
    return [exp(weight - highest) / whole for weight in weights]
