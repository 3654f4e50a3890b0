"""Which tool comes next: a linear softmax over the cues of the moment."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Row: TypeAlias = npt.NDArray[np.float64]

NOTHING = ""
"""The label of a turn that calls no tool."""
_SPREAD = 2.0


def evened(cues: int) -> float:
    """What one cue among so many counts, so that many words do not outshout a few."""
    return _SPREAD / sqrt(cues + 1)


@dataclass(frozen=True)
class Choice:
    """Labels are tools, keys of invocations asked for in many tasks, and `NOTHING`."""

    bias: Mapping[str, float]
    weights: Mapping[str, Mapping[str, float]]
    """By cue and label."""

    def probabilities(self, cues: Collection[str]) -> dict[str, float]:
        """The probability of each label."""
        if not self.bias:
            return {}
        rows = [row for cue in cues if (row := self._rows.get(cue)) is not None]
        scores = self._start + evened(len(cues)) * np.add.reduce(rows) if rows else self._start
        masses = np.exp(scores - scores.max())
        return dict(zip(self.bias, (masses / masses.sum()).tolist(), strict=True))

    @cached_property
    def _start(self) -> Row:
        return np.fromiter(self.bias.values(), np.float64)

    @cached_property
    def _rows(self) -> dict[str, Row]:
        place = {label: at for at, label in enumerate(self.bias)}
        rows = {}
        for cue, weights in self.weights.items():
            row = rows[cue] = np.zeros(len(place))
            for label, weight in weights.items():
                row[place[label]] = weight
        return rows
