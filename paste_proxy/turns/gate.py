"""What stands before an endpoint and says which ready turns it gets."""

from typing import Protocol

from paste_proxy.turns.types import Command, Told


class Gate(Protocol):
    """A state machine; `admission.Admission` is one."""

    def step(self, told: Told, now: float) -> list[Command]:
        """Take what happened at `now`, return what to do. `now` never goes back."""

    def next_deadline(self) -> float | None:
        """When a `Tick` is due, if nothing else is told before."""
