"""What was got ready for calls that were not run ahead, and what it was good for."""

from collections import Counter
from dataclasses import dataclass, field

from paste_proxy.events.values import Json
from paste_proxy.speculation.preparation import Preparation


@dataclass(slots=True)
class PreparationTally:
    """Sums since the start."""

    prepared: Counter[Preparation] = field(default_factory=Counter)
    failed: Counter[Preparation] = field(default_factory=Counter)
    """What could not be had; a call for it finds that out for itself."""
    found: Counter[Preparation] = field(default_factory=Counter)
    """Calls that found ready what they need."""

    def as_json(self) -> dict[str, Json]:
        """By kind."""
        return {
            kind.value: {"prepared": self.prepared[kind], "failed": self.failed[kind], "found": self.found[kind]}
            for kind in Preparation
        }
