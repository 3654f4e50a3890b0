"""A monotone correction of confidences, learned on held-out sessions (pool adjacent violators)."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, brief

_LEAST_PAIRS = 100
_LEAST_IN_STEP = 20
_MOST_STEPS = 40
_DRAW = 2.0
"""Imaginary pairs that came true as often as predicted, in each step."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Steps (predicted, observed), ascending; between two steps the value is interpolated."""

    steps: tuple[tuple[float, float], ...] = ()

    def __call__(self, predicted: float) -> float:
        """The corrected confidence; unchanged where nothing was learned."""
        if not self.steps:
            return predicted
        at = bisect_right(self.steps, (predicted, 2.0))
        x0, y0 = self.steps[at - 1] if at else (0.0, 0.0)
        x1, y1 = self.steps[at] if at < len(self.steps) else (1.0, max(y0, self.steps[-1][1]))
        if x1 <= x0:
            return y0
        return y0 + (y1 - y0) * (predicted - x0) / (x1 - x0)


UNCALIBRATED = Calibration()


def read_calibration(raw: Json, where: str) -> Calibration:
    """The calibration of a JSON list of its steps.

    Raises:
        InputFault: naming `where`.
    """
    if not isinstance(raw, list):
        raise InputFault(where, brief(raw), "a list of pairs")
    steps: list[tuple[float, float]] = []
    for step in raw:
        match step:
            case [int() | float() as predicted, int() | float() as observed] if 0 <= predicted <= 1 >= observed >= 0:
                steps.append((predicted, observed))
            case _:
                raise InputFault(where, brief(step), "pairs [predicted, observed] between 0 and 1")
    if steps != sorted(steps) or [y for _, y in steps] != sorted(y for _, y in steps):
        raise InputFault(where, "steps out of order", "ascending pairs")
    return Calibration(tuple(steps))


def calibrate(pairs: Iterable[tuple[float, bool]]) -> Calibration:
    """Learn from predicted confidences and whether each came true; with few pairs, change nothing."""
    ordered = sorted(pairs)
    if len(ordered) < _LEAST_PAIRS:
        return UNCALIBRATED
    size = max(_LEAST_IN_STEP, len(ordered) // _MOST_STEPS)
    ends = [*range(size, len(ordered) - size + 1, size), len(ordered)]
    blocks: list[_Block] = []
    for start, end in zip([0, *ends], ends, strict=False):
        part = ordered[start:end]
        blocks.append(_Block(sum(predicted for predicted, _ in part), sum(came for _, came in part), len(part)))
        while len(blocks) > 1 and blocks[-2].rate > blocks[-1].rate:
            blocks[-2:] = [blocks[-2].joined(blocks[-1])]
    return Calibration(tuple((round(block.predicted / block.number, 4), round(block.rate, 4)) for block in blocks))


@dataclass(frozen=True, slots=True)
class _Block:
    """Neighbours in confidence: sum of predictions, how many came true, their number."""

    predicted: float
    came: float
    number: int

    @property
    def rate(self) -> float:
        """The rate observed, drawn towards the one predicted where little was observed."""
        return (self.came + _DRAW * self.predicted / self.number) / (self.number + _DRAW)

    def joined(self, other: "_Block") -> "_Block":
        return _Block(self.predicted + other.predicted, self.came + other.came, self.number + other.number)
