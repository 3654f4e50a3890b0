"""What is counted of turns before a gate."""

from bisect import bisect_left
from dataclasses import dataclass, field

WAITS_S = (0.001, 0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Upper bounds of the waits that are counted together; those beyond the last are, too."""


@dataclass(slots=True)
class GateTally:
    """The account of one gate."""

    admitted: int = 0
    late: int = 0
    """Of these, the ones that had waited as long as any may."""
    turned_away: int = 0
    left: int = 0
    """Turns whose agents went before they were admitted."""
    waited_s: float = 0.0
    waits: list[int] = field(default_factory=lambda: [0] * (len(WAITS_S) + 1))
    """How many were admitted after a wait of up to each of `WAITS_S`, and beyond."""
    unasked: int = 0
    """Times that the engine could not be asked for its load."""

    def admit(self, waited_s: float, *, late: bool) -> None:
        """A turn was admitted."""
        self.admitted += 1
        self.late += late
        self.waited_s += waited_s
        self.waits[bisect_left(WAITS_S, waited_s)] += 1


@dataclass(slots=True)
class GateState:
    """How a gate stands."""

    held: int
    """Turns that wait."""
    running: int
    """Turns that were admitted and are not over."""
    pressure: float | None = None
    low: float | None = None
    high: float | None = None
    """P_low and P_high; None, like the pressure, where there is no band."""
