"""The slots of one server: authoritative calls first, speculative jobs in what is left.

Authoritative calls take their slots, and queue for them, without looking at speculative jobs at all; the
jobs that are then too many go. So a call starts exactly when it would have without speculation.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.ledger import Job, Place
from paste_proxy.speculation.limits import ServerCapacity


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """An authoritative call from its asking to its end."""

    number: int
    places: list[Place]
    """Where a job that runs the same stands, and where the one stood that it waited for: nothing more is run there."""
    invocation: Invocation
    lane: "Lane"
    writes: frozenset[str]
    asked_at: float
    writing: bool = False
    """What it writes may be happening."""
    rule: str = ""
    """The place of the rule that speaks about it."""
    started_at: float | None = None
    """None while it queues or waits for a promoted job."""
    job: Job | None = None
    """The promoted job it waits for, or the staged one whose effects happen now."""
    answer: ToolResult | None = None
    """What it is served once those effects have happened."""
    waited: bool = False
    """It waited for a promoted job."""
    reuse_s: float | None = None
    """How long its answer serves the same call again; None: it does not."""
    epoch: int = 0
    """The epoch of effects it started in."""
    followers: list["Call"] = field(default_factory=list)
    """The same calls, which wait for its answer."""
    leader: "Call | None" = None
    """The call whose answer it waits for."""
    gone: bool = False
    """Its agent gave it up while those effects happened."""
    shadow: Job | None = None
    """The shadow job that would have served it."""
    late: bool = False
    """It would not have waited for that."""


@dataclass(slots=True, eq=False)
class Lane:
    """One server's slots and its queue."""

    server: str
    capacity: ServerCapacity
    authoritative: int = 0
    """Slots in use by authoritative calls, promoted jobs included."""
    queue: deque[Call] = field(default_factory=deque)

    def free(self) -> bool:
        """Whether an authoritative call may start."""
        return self.capacity.total is None or self.authoritative < self.capacity.total

    def drop(self, call: Call) -> None:
        """A call that has not started is given up, wherever it waits."""
        if call in self.queue:
            self.queue.remove(call)

    def too_many(self, running: Sequence[Job]) -> list[Job]:
        """The jobs that have to go because authoritative calls took their slots, least useful first."""
        if self.capacity.total is None:
            return []
        here = sorted(self.of(running), key=lambda job: job.utility)
        return here[: max(0, self.authoritative + len(here) - self.capacity.total)]

    def room(self, speculative: int) -> bool:
        """Whether one more speculative job may start beside that many."""
        limit, total = self.capacity.speculative, self.capacity.total
        if limit is not None and speculative >= limit:
            return False
        return total is None or self.authoritative + speculative < total

    def of(self, running: Sequence[Job]) -> list[Job]:
        """The jobs that run on this server."""
        return [job for job in running if job.server == self.server]


def obstacles(lane: Lane, running: Sequence[Job], slots: int) -> Sequence[Job] | None:
    """The running jobs of which one must go before another can start on the lane; None: there is room.

    Empty where authoritative calls are in the way.
    """
    here = lane.of(running)
    if not lane.room(len(here)):
        return here
    return running if len(running) >= slots else None
