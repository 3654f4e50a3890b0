"""What became of the calls that each pattern foresaw."""

from dataclasses import dataclass

from paste_proxy.events.types import Outcome
from paste_proxy.speculation.types import Settled

_COMMITTED = (Outcome.REUSED, Outcome.PROMOTED)


@dataclass(slots=True)
class PatternTally:
    """Of one pattern, in mode `observe` what would have been."""

    hits: int = 0
    """Runs ahead that answered a call."""
    vain: int = 0
    """Those that did not."""
    last_hit: float | None = None
    """When, in seconds since 1970."""

    def settled(self, job: Settled, at: float) -> None:
        """A run ahead came to its end."""
        if job.outcome in _COMMITTED:
            self.hits, self.last_hit = self.hits + 1, at
        else:
            self.vain += 1
