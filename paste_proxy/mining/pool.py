"""The pattern pool: what mining found, as values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from paste_proxy.mining.calibration import UNCALIBRATED, Calibration
from paste_proxy.mining.forecast.model import Model
from paste_proxy.mining.outlook import Outlook
from paste_proxy.mining.pattern import Pattern


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
    ids: tuple[str, ...] = ()
    """Digests of the sessions' ids, see `provenance`."""
    tasks: tuple[str, ...] = ()
    """Digests of what else tells their tasks."""
    sampled_from: int = 0
    """Sessions that there were, where these are a sample of them; 0 if these are all."""


@dataclass(frozen=True)
class Pool:
    """Patterns, tool facts, and the correction of confidences that held-out sessions taught.

    Where there are models, the patterns that mining found are theirs to weigh, and the others stand for themselves.
    """

    patterns: tuple[Pattern, ...] = ()
    tools: dict[str, ToolFacts] = field(default_factory=dict)
    calibration: Calibration = UNCALIBRATED
    origin: Origin = Origin()
    models: tuple[Model, ...] = ()

    @cached_property
    def outlook(self) -> Outlook:
        """What the patterns that no model weighs expect, by context; shared by all that predict from it."""
        return Outlook(pattern for pattern in self.patterns if not pattern.weighed)

    @property
    def foreseen(self) -> frozenset[str]:
        """The tools that it can predict calls of: those it was mined with, and those that its patterns name."""
        return frozenset(self.tools) | {pattern.template.tool for pattern in self.patterns}

    @cached_property
    def weighed(self) -> frozenset[str]:
        """The tools that a model knows."""
        return frozenset(tool for model in self.models for tool in model.finder.arguments.shapes)


def combine(pools: Iterable[Pool]) -> Pool:
    """One pool of all their patterns, each with the calibration of its own. Of a tool that several know,
    the facts with most calls stay, and what they were mined from is added up."""
    pools = list(pools)
    patterns: list[Pattern] = []
    tools: dict[str, ToolFacts] = {}
    for pool in pools:
        patterns += (replace(pattern, calibration=pool.calibration) for pattern in pool.patterns)
        for tool, facts in pool.tools.items():
            tools[tool] = max(facts, tools.get(tool, facts), key=lambda known: known.calls)
    models = tuple(model for pool in pools for model in pool.models)
    return Pool(tuple(patterns), tools, origin=_origin([pool.origin for pool in pools]), models=models)


def _origin(origins: Sequence[Origin]) -> Origin:
    return Origin(
        sessions=sum(origin.sessions for origin in origins),
        groups=sum(origin.groups for origin in origins),
        calls=sum(origin.calls for origin in origins),
        sources=tuple(sorted({source for origin in origins for source in origin.sources})),
        ids=tuple(sorted({one for origin in origins for one in origin.ids})),
        tasks=tuple(sorted({one for origin in origins for one in origin.tasks})),
        sampled_from=_sampled_from(origins),
    )


def _sampled_from(origins: Sequence[Origin]) -> int:
    if not any(origin.sampled_from for origin in origins):
        return 0
    return sum(origin.sampled_from or origin.sessions for origin in origins)
