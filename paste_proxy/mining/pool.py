"""The pattern pool: what mining found, as values.

A pattern is a template with, for each rank of its bindings (0 is the first it gives), what became of it in
each context.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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
    """Patterns, tool facts, and the correction of confidences that held-out sessions taught."""

    patterns: tuple[Pattern, ...] = ()
    tools: dict[str, ToolFacts] = field(default_factory=dict)
    calibration: Calibration = UNCALIBRATED
    origin: Origin = Origin()


def combine(pools: Iterable[Pool]) -> Pool:
    """One pool of all their patterns, each with the calibration of its own. Of a tool that several know,
    the facts with most calls stay."""
    patterns: list[Pattern] = []
    tools: dict[str, ToolFacts] = {}
    for pool in pools:
        patterns += (replace(pattern, calibration=pool.calibration) for pattern in pool.patterns)
        for tool, facts in pool.tools.items():
            tools[tool] = max(facts, tools.get(tool, facts), key=lambda known: known.calls)
    return Pool(tuple(patterns), tools)


def pattern_id(template_text: str, tool: str) -> str:
    """A name for a pattern that stays the same when it is mined again."""
    return f"{tool}#{blake2b(template_text.encode(), digest_size=4).hexdigest()}"
