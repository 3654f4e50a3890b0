"""What the SDK counts in the agent's process."""

from dataclasses import dataclass, field
from threading import Lock
from typing import Literal

Counted = Literal[
    "calls", "run", "reused", "promoted", "absent", "slow", "lost", "missing", "unreadable", "broken",
    "jobs", "jobs_refused", "jobs_cancelled",
]  # fmt: skip


@dataclass(slots=True)
class Stats:
    """Plain sums since the start. Everything from `absent` to `broken` is a call that went on without help."""

    calls: int = 0
    """Authoritative calls; `run`, `reused` and `promoted` add up to it once they are decided."""
    run: int = 0
    reused: int = 0
    promoted: int = 0

    absent: int = 0
    """No sidecar was connected."""
    slow: int = 0
    """No decision came in time."""
    lost: int = 0
    """The connection broke while the call waited."""
    missing: int = 0
    """The value to use is not there, or another function made it."""
    unreadable: int = 0
    """The arguments are not JSON."""
    broken: int = 0
    """A fault of the SDK itself."""

    jobs: int = 0
    """Jobs started ahead."""
    jobs_refused: int = 0
    """Jobs for which there was no slot, or nowhere to run them."""
    jobs_cancelled: int = 0

    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def add(self, name: Counted) -> None:
        """Count one; from any thread."""
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)
