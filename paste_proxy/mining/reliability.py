"""Whether confidences say what they seem to: candidates by tenths of confidence, and how many came true."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from paste_proxy.events.values import Json

_BINS = 10


@dataclass(slots=True)
class _Bin:
    number: int = 0
    expected: float = 0.0
    """Sum of the confidences."""
    came: int = 0


@dataclass(slots=True)
class Reliability:
    """Running sums over candidates."""

    bins: list[_Bin] = field(default_factory=lambda: [_Bin() for _ in range(_BINS)])

    def add(self, confidence: float, *, came: bool) -> None:
        """Note a candidate and whether it came true."""
        one = self.bins[min(int(confidence * _BINS), _BINS - 1)]
        one.number += 1
        one.expected += confidence
        one.came += came

    def error(self) -> float:
        """The expected calibration error: mean distance of confidence from outcome, by tenths of confidence."""
        number = sum(one.number for one in self.bins)
        return round(sum(abs(one.expected - one.came) for one in self.bins) / number, 4) if number else 0.0

    def table(self) -> list[Json]:
        """Rows of mean confidence, share that came true and number of candidates; tenths without any left out."""
        return list(self._rows())

    def _rows(self) -> Iterator[Json]:
        for one in self.bins:
            if one.number:
                yield [round(one.expected / one.number, 4), round(one.came / one.number, 4), one.number]
