"""How full the room for guesses was: as the sidecar counted it, and as it was found now and then."""

from dataclasses import dataclass, field
from typing import Any

from paste_proxy.events.values import Json

_ENDS = ("reused", "promoted", "discarded", "preempted")


@dataclass(slots=True)
class Saturation:
    """Sums over the blocks of a load.

    Args:
        slots: in which guesses are run, the agents' own calls included.
    """

    slots: int
    wall_s: float = 0.0
    used_slot_s: float = 0.0
    """By guesses and agents' calls together."""
    launched: int = 0
    ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_ENDS, 0))
    refused: int = 0
    """Guesses for which there was no room."""
    looks: int = 0
    full: int = 0
    """Looks that found no slot free."""

    def look(self, running: int, waiting: int) -> None:
        """So many guesses run, so many calls of agents wait."""
        self.looks += 1
        self.full += running + waiting >= self.slots

    def add(self, before: dict[str, Any], after: dict[str, Any], *, wall_s: float, waited_s: float) -> None:
        """A block passed.

        Args:
            before, after: the sidecar's figures, every guess having come to its end.
            waited_s: seconds that agents waited for tools of these servers.
        """
        self.wall_s += wall_s
        self.used_slot_s += waited_s + after["wasted_s"] - before["wasted_s"]
        self.launched += after["launched"] - before["launched"]
        self.refused += after["refused"].get("budget", 0) - before["refused"].get("budget", 0)
        for end in _ENDS:
            self.ended[end] += after["outcomes"].get(end, 0) - before["outcomes"].get(end, 0)

    def to_json(self) -> dict[str, Json]:
        """The figures; shares from 0 to 1, rates a second."""
        return {
            "slots": self.slots,
            "used": round(self.used_slot_s / (self.slots * self.wall_s), 3) if self.wall_s else 0.0,
            "full": round(self.full / self.looks, 3) if self.looks else 0.0,
            "launched": self.launched,
            **self.ended,
            "without_room": self.refused,
            "launched_per_s": round(self.launched / self.wall_s, 1) if self.wall_s else 0.0,
        }


def settled(stats: dict[str, Any]) -> bool:
    """Whether every guess has come to its end."""
    launched, ended = int(stats["launched"]), sum(stats["outcomes"].values())
    return bool(launched <= ended)
