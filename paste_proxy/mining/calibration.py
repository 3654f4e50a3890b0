"""A monotone correction of confidences, learned on held-out sessions (pool adjacent violators)."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

_LEAST_IN_STEP = 20


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


def calibrate(pairs: Iterable[tuple[float, bool]]) -> Calibration:
    """Learn from predicted confidences and whether each came true."""
    blocks: list[tuple[float, float, int]] = []  # sum of predictions, of outcomes, and their number
    for predicted, came in sorted(pairs):
        blocks.append((predicted, float(came), 1))
        while len(blocks) > 1 and (_rate(blocks[-2]) >= _rate(blocks[-1]) or blocks[-2][2] < _LEAST_IN_STEP):
            x1, y1, n1 = blocks.pop()
            x0, y0, n0 = blocks.pop()
            blocks.append((x0 + x1, y0 + y1, n0 + n1))
    return Calibration(tuple((round(x / n, 4), round(y / n, 4)) for x, y, n in blocks if n >= _LEAST_IN_STEP))


def _rate(block: tuple[float, float, int]) -> float:
    return block[1] / block[2]
