"""How staged runs fare: whether they end before their calls come, and whether the machine lets them.

They get what nobody else wants of it. Where every core is wanted they hardly move, and a call that comes finds them at
their beginning.
"""

from dataclasses import dataclass

from paste_proxy.events.types import Outcome, Speculation
from paste_proxy.events.values import Json
from paste_proxy.speculation.types import Settled

STARVED = 0.25
"""Of their time: runs that were at work on a core for less than this hardly got one. Those that wait for something
else, such as a clock, look the same."""


@dataclass(slots=True)
class StagedRuns:
    """Sums of staged jobs that ran; times in seconds."""

    asked: int = 0
    """Those whose calls came and were answered by them."""
    ended_before: int = 0
    """Of these: those that had ended by then."""
    ran_s: float = 0.0
    """Of those of which it is known how long they were at work on a core."""
    cpu_s: float = 0.0

    def add(self, job: Settled | Speculation) -> None:
        """One more job, if it is a staged one that ran."""
        if not job.staged or job.shadow or job.again:
            return
        self.asked += job.outcome in (Outcome.REUSED, Outcome.PROMOTED)
        self.ended_before += job.outcome is Outcome.REUSED
        if job.cpu_s is not None:
            self.ran_s += job.ran_s
            self.cpu_s += job.cpu_s

    @property
    def cpu_share(self) -> float | None:
        """CPU seconds a second of their runs; more than 1 where several cores worked. None: nothing is known."""
        return self.cpu_s / self.ran_s if self.ran_s else None

    @property
    def starved(self) -> bool:
        """Whether that is less than `STARVED`."""
        return self.cpu_share is not None and self.cpu_share < STARVED

    def as_json(self) -> dict[str, Json]:
        """By name."""
        share = self.cpu_share
        return {
            "asked": self.asked,
            "ended_before_asked": self.ended_before,
            "cpu_share": None if share is None else round(share, 3),
            "starved": self.starved,
        }

    def in_words(self) -> str:
        """For people."""
        words = f"{self.ended_before} of {self.asked} ended before they were asked for"
        if self.cpu_share is None:
            return words
        starved = f": starved, less than {STARVED:.0%}" if self.starved else ""
        return f"{words}; on a core for {self.cpu_share:.0%} of their time{starved}"
