"""The pattern pool: what mining found, as values.

A pattern is a template with, for each rank of its bindings (0 is the first it gives), what became of it in
each context.
"""

from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What is known of a tool."""

    calls: int
    median_s: float | None = None
    """Median time of a call in seconds, where recorded."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a pool was mined from."""

    sessions: int = 0
    groups: int = 0
    calls: int = 0
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """Patterns, tool facts, and the correction that held-out sessions taught."""

    patterns: tuple[Pattern, ...] = ()
    tools: dict[str, ToolFacts] = field(default_factory=dict)
    calibration: Calibration = UNCALIBRATED
    origin: Origin = Origin()


def pattern_id(template_text: str, tool: str) -> str:
    """A name for a pattern that stays the same when it is mined again."""
    return f"{tool}#{blake2b(template_text.encode(), digest_size=4).hexdigest()}"
