"""Time as a dependency, so that tests and the simulator own it."""

import time
from typing import Protocol


class Clock(Protocol):
    """Two readings of time, both in seconds."""

    def monotonic(self) -> float:
        """Time that never goes back; for durations and deadlines."""

    def epoch(self) -> float:
        """Seconds since 1970; for event timestamps only."""


class SystemClock:
    """The machine's clock."""

    def monotonic(self) -> float:
        """Seconds of the machine's monotonic clock."""
        return time.monotonic()

    def epoch(self) -> float:
        """Seconds since 1970."""
        return time.time()


def day_of(epoch: float) -> str:
    """The day that a moment belongs to where the machine stands, as `2026-12-31`."""
    return time.strftime("%Y-%m-%d", time.localtime(epoch))


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def monotonic(self) -> float:
        """The time set."""
        return self.now

    def epoch(self) -> float:
        """The time set."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`."""
        self.now += seconds
