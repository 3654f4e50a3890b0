"""Which tool comes next: a linear softmax over the cues of the moment."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, sqrt

NOTHING = ""
"""The label of a turn that calls no tool."""
_SPREAD = 2.0


def evened(cues: int) -> float:
    """What one cue among so many counts, so that many words do not outshout a few."""
    return _SPREAD / sqrt(cues + 1)


@dataclass(frozen=True)
class Choice:
    """Labels are tools, keys of invocations asked for in many tasks, and `NOTHING`."""

    bias: dict[str, float]
    weights: dict[str, dict[str, float]]
    """By cue and label."""

    def probabilities(self, cues: Iterable[str]) -> dict[str, float]:
        """The probability of each label."""
        told = list(cues)
        scores = dict(self.bias)
        even = evened(len(told))
        for cue in told:
            for label, weight in self.weights.get(cue, {}).items():
                scores[label] += even * weight
        highest = max(scores.values(), default=0.0)
        masses = {label: exp(score - highest) for label, score in scores.items()}
        whole = sum(masses.values())
        return {label: mass / whole for label, mass in masses.items()}
