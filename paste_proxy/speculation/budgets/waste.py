"""The waste breaker: where too much was run in vain within a minute, nothing more is run ahead until that has calmed.

It shuts beyond the limit and is ajar again at half of it: a few calls at a time show whether guesses are better now. A
minute in which those keep below half opens it; else it shuts again.
"""

from dataclasses import dataclass
from enum import StrEnum

from paste_proxy.speculation.budgets.minute import MINUTE_S, Amounts

_FEW = 2
"""Calls at once while it is ajar."""
_CALM = 0.5


class Door(StrEnum):
    """Whether calls may be run ahead."""

    OPEN = "open"
    AJAR = "ajar"
    SHUT = "shut"


@dataclass(frozen=True, slots=True)
class Waste:
    """A breaker as it stands."""

    amounts: tuple[tuple[float, float], ...] = ()
    """When so many seconds turned out to be for nothing, within the last minute."""
    door: Door = Door.OPEN
    ajar_since: float = 0.0
    """If it is ajar."""


NO_WASTE = Waste()


class WasteBreaker:
    """One breaker.

    Args:
        most_s: seconds that may be run in vain within a minute; None: it never shuts.
    """

    def __init__(self, most_s: float | None) -> None:
        self._most_s = most_s
        self._wasted = Amounts()
        self._door, self._ajar_since = Door.OPEN, 0.0

    def wasted(self, seconds: float, now: float) -> None:
        """A call run ahead came to nothing after so long."""
        if self._most_s is not None:
            self._wasted.add(seconds, now)
            self.door(now)

    def wasted_s(self, now: float) -> float:
        """Run in vain within the last minute."""
        return self._wasted.sum(now)

    def admits(self, running: int, now: float) -> bool:
        """Whether one more may run beside so many that run ahead now."""
        door = self.door(now)
        return door is Door.OPEN or (door is Door.AJAR and running < _FEW)

    def running(self, now: float) -> Waste:
        """How it stands by now, and what for."""
        door = self.door(now)
        return Waste(self._wasted.each(now), door, self._ajar_since if door is Door.AJAR else 0.0)

    def resume(self, waste: Waste, now: float) -> None:
        """Stand as another did, as far as that was within a minute."""
        if self._most_s is None:
            return
        for at, seconds in waste.amounts:
            self._wasted.add(seconds, min(at, now))
        is_ajar = waste.door is Door.AJAR and now - waste.ajar_since < MINUTE_S
        if is_ajar or (waste.door is Door.SHUT and self._wasted.sum(now)):
            self._door, self._ajar_since = waste.door, min(waste.ajar_since, now)

    def door(self, now: float) -> Door:
        """How it stands by now."""
        if self._most_s is None:
            return Door.OPEN
        wasted, calm = self._wasted.sum(now), _CALM * self._most_s
        match self._door:
            case Door.OPEN if wasted > self._most_s:
                self._door = Door.SHUT
            case Door.SHUT if wasted <= calm:
                self._door, self._ajar_since = Door.AJAR, now
            case Door.AJAR if wasted > calm:
                self._door = Door.SHUT
            case Door.AJAR if now - self._ajar_since >= MINUTE_S:
                self._door = Door.OPEN
            case _:
                pass
        return self._door
