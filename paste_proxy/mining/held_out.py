"""How the patterns of one half of the task groups did on the other, both ways round."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Candidates predicted in sessions of tasks that the patterns had not seen."""

    candidates: int
    came: int
    """Those that were asked for within the horizon."""
    expected: float
    """How many of them should have been, by their confidences before calibration."""

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, bool]]) -> "HeldOut":
        """From each candidate's confidence and whether it came true."""
        return cls(len(pairs), sum(came for _, came in pairs), sum(confidence for confidence, _ in pairs))
