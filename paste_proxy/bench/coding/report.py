"""What a coding replay shows: the two sides compared, as one object."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from paste_proxy.bench.agent import Played
from paste_proxy.bench.coding.ceiling import exposed_at_least, may_run_ahead
from paste_proxy.bench.coding.commands import is_suite
from paste_proxy.bench.coding.playing import Side
from paste_proxy.bench.script import Script
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same sessions without and with speculation."""

    scripts: tuple[Script, ...]
    speed: float
    baseline: Side
    speculative: Side

    @property
    def views_equal(self) -> bool:
        """Whether every agent saw the same, but for the times in the test runner's own words."""
        pairs = zip(self.baseline.played, self.speculative.played, strict=True)
        return all(one.view == other.view for one, other in pairs)

    def to_json(self) -> dict[str, Json]:
        """The object that `--json` prints; seconds of life, at the recorded pace of the LLM."""
        calls = sum(len(script.calls) for script in self.scripts)
        stats = self.speculative.stats
        hits, wasted_s = cast("int", stats["hits"]), cast("float", stats["wasted_s"])
        least = exposed_at_least(self.baseline.played)
        return {
            "workload": "coding",
            "sessions": len(self.scripts),
            "calls": calls,
            "baseline": _times(self.baseline),
            "speculative": _times(self.speculative),
            "cut_task": round(_cut(self.baseline.task_s, self.speculative.task_s), 4),
            "cut_exposed": round(_cut(self.baseline.exposed_s, self.speculative.exposed_s), 4),
            "hits": hits,
            "hit_rate": round(hits / calls, 4) if calls else 0.0,
            "wasted_s": round(wasted_s * self.speed, 2),
            "views_equal": self.views_equal,
            "ceiling": {
                "exposed_tool_s": round(least, 2),
                "cut_exposed": round(_cut(self.baseline.exposed_s, least), 4),
                "cut_task": round((self.baseline.exposed_s - least) / self.baseline.task_s, 4),
            },
            "suites": _suites(self.baseline.played, self.speculative.played),
            "staging": stats["staging"],
            "refused": stats["refused"],
            "speed": self.speed,
            "tool_share": round(self.baseline.exposed_s / self.baseline.task_s, 4),
        }


def _suites(before: Sequence[Played], after: Sequence[Played]) -> dict[str, Json]:
    """The calls that run tests: what they took without, and what was waited for with speculation."""
    sides = [[ask for one in side for ask in one.asks if _tests(ask.invocation)] for side in (before, after)]
    waited = [sum(ask.answered - ask.asked for ask in asks) for asks in sides]
    return {"calls": len(sides[0]), "took_s": round(waited[0], 2), "waited_s": round(waited[1], 2)}


def _tests(invocation: Invocation) -> bool:
    return may_run_ahead(invocation) and is_suite(str(invocation.arguments.get("command", "")))


def _times(side: Side) -> dict[str, Json]:
    return {"task_s": round(side.task_s, 2), "exposed_tool_s": round(side.exposed_s, 2)}


def _cut(before: float, after: float) -> float:
    return 1 - after / before if before else 0.0
