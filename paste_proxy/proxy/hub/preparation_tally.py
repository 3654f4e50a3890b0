"""What was got ready for calls that were not run ahead, and what it was good for."""

from collections import Counter
from dataclasses import dataclass, field

from paste_proxy.events.types import Why
from paste_proxy.events.values import Json
from paste_proxy.speculation.preparation import Preparation
from paste_proxy.speculation.types import Settled

_REHEARSAL = "rehearsal"
"""A run of the call in a changed form."""
KINDS = (*(kind.value for kind in Preparation), _REHEARSAL)


@dataclass(slots=True)
class PreparationTally:
    """Sums since the start, by kind."""

    prepared: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    """What could not be had; a call for it finds that out for itself."""
    found: Counter[str] = field(default_factory=Counter)
    """Calls that found ready what they need."""

    def rehearsed(self, job: Settled) -> None:
        """A rehearsal is over; one that was stopped is neither prepared nor failed."""
        if job.why in (Why.ERROR, Why.FAULT):
            self.failed[_REHEARSAL] += 1
        elif job.bytes is not None:
            self.prepared[_REHEARSAL] += 1
            self.found[_REHEARSAL] += job.why is Why.REHEARSED

    def as_json(self) -> dict[str, Json]:
        """By kind."""
        return {
            kind: {"prepared": self.prepared[kind], "failed": self.failed[kind], "found": self.found[kind]}
            for kind in KINDS
        }
