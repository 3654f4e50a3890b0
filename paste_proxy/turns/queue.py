"""Turns that wait, in the order in which they are to go."""

from dataclasses import dataclass, field
from heapq import heappop, heappush

from paste_proxy.turns.types import TurnFacts


@dataclass(slots=True)
class Held:
    """A turn that waits."""

    turn: int
    facts: TurnFacts
    since: float
    share: float
    """What it adds to the pressure, in average turns."""
    head_start_s: float
    until: float
    """When it has waited as long as it may."""
    impatient: bool
    """It is turned away then."""

    @property
    def place(self) -> float:
        """The earliest goes first."""
        return self.since - self.head_start_s


@dataclass(slots=True)
class Queue:
    """Of each turn, when it came less its head start; the earliest goes first."""

    _held: dict[int, Held] = field(default_factory=dict)
    _order: list[tuple[float, int]] = field(default_factory=list)
    _ends: list[tuple[float, int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._held)

    def add(self, held: Held) -> None:
        """A turn waits from now on."""
        self._held[held.turn] = held
        heappush(self._order, (held.place, held.turn))
        heappush(self._ends, (held.until, held.turn))

    def pop(self, turn: int) -> Held | None:
        """It waits no more; None: it did not."""
        return self._held.pop(turn, None)

    def first(self) -> Held | None:
        """The one that is to go next."""
        return self._top(self._order)

    def soonest(self) -> Held | None:
        """The one that will have waited as long as it may before all others."""
        return self._top(self._ends)

    def _top(self, heap: list[tuple[float, int]]) -> Held | None:
        while heap and heap[0][1] not in self._held:
            heappop(heap)
        return self._held[heap[0][1]] if heap else None
