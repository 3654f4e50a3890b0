"""How much may be run ahead, in plain values."""

from dataclasses import dataclass

from paste_proxy.speculation.types import Destination


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationLimits:
    """The bounds of the whole room; the defaults live in the configuration."""

    slots: int
    """Speculative jobs at once, in all."""
    candidates: int
    """Candidates taken from one prediction."""
    min_confidence: float
    min_benefit_s: float
    """Least expected saving, confidence times hidden seconds, that is worth a job."""
    ttl_s: float
    """A job unasked for this long after its start is discarded, finished or not."""
    result_bytes: int
    """A larger result is not kept."""
    held_bytes: int
    held_results: int
    destinations: frozenset[Destination] = frozenset(Destination)
    """Who may learn of a call that is only a guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCapacity:
    """Slots of one server."""

    total: int | None = None
    """Calls at once, authoritative ones included; further ones queue in order. None: no limit."""
    speculative: int | None = None
    """Speculative jobs at once. None: as many as `SpeculationLimits.slots`."""
