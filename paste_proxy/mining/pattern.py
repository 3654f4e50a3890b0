"""A pattern: a template with, for each rank of its bindings (0 is the first it gives), what became of it in
each context."""

from dataclasses import dataclass
from hashlib import blake2b

from paste_proxy.mining.calibration import UNCALIBRATED, Calibration
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.templates import AnyTemplate


@dataclass(frozen=True, slots=True)
class Pattern:
    """Contexts, a tool with argument mappers, and an empirical confidence for each context and rank."""

    template: AnyTemplate
    ranks: tuple[dict[str, Count], ...]
    """By rank: counts by context."""
    groups: int = 0
    """Task groups in which one of its candidates was asked for."""
    id: str = ""
    calibration: Calibration = UNCALIBRATED
    """That of the pool it came from, where pools are combined."""
    weighed: bool = False
    """A model weighs what it gives."""
    believed: float | None = None
    """What its author believes, which the counts stand for; None: they were counted."""


def pattern_id(template_text: str, tool: str) -> str:
    """A name for a pattern that stays the same when it is mined again."""
    digest = blake2b(template_text.encode("utf-8", "surrogatepass"), digest_size=4)
    return f"{tool}#{digest.hexdigest()}"
