"""All systems under one load, or under several, and how far that is from what was published."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from paste_proxy.events.values import Json
from paste_proxy.sim.figures import Figures
from paste_proxy.sim.scenario import Scenario
from paste_proxy.sim.systems import SYSTEMS, System

PUBLISHED_CUTS = {"mean": (0.435, 0.485), "p99": (0.55,)}
"""Of PASTE against plain serving, in its two reports."""
PUBLISHED_SPEEDUP = {"least": 1.27, "pooled": 1.50}
"""Of PASTE over vLLM, over a sweep of concurrency (section 6.5)."""
BASE, OURS = "fcfs", "paste"


@dataclass(frozen=True)
class Comparison:
    """What each system gave under one load."""

    scenario: Scenario
    figures: Mapping[str, Figures]

    def cut(self, name: str = OURS) -> dict[str, float]:
        """Share of plain serving's time that is gone, of the mean and of the 99th percentile."""
        base, one = self.figures[BASE], self.figures[name]
        return {"mean": 1 - one.mean_s / base.mean_s, "p99": 1 - one.p99_s / base.p99_s}

    def systems(self) -> dict[str, Json]:
        """By name."""
        return {
            name: {**one.report(), **{f"cut_{what}": round(cut, 4) for what, cut in self.cut(name).items()}}
            for name, one in self.figures.items()
        }

    def short_of(self) -> dict[str, Json]:
        """How much less is cut than was published; below zero: more is."""
        return {
            what: [round(published - self.cut()[what], 4) for published in PUBLISHED_CUTS[what]]
            for what in PUBLISHED_CUTS
        }


def compare(
    scenario: Scenario, systems: Sequence[System] = SYSTEMS, on_system: Callable[[], None] = lambda: None
) -> Comparison:
    """Play all of them."""
    figures = {}
    for system in systems:
        figures[system.name] = Figures(scenario.play(system))
        on_system()
    return Comparison(scenario, figures)


def growth(comparison: Comparison, alone: Figures) -> float:
    """How many times as long sessions spend in the LLM under a load, plainly served, as one that is alone."""
    return comparison.figures[BASE].llm_s / alone.llm_s if alone.llm_s else 0.0


def alone(scenario: Scenario) -> Figures:
    """Each recorded session by itself, plainly served."""
    (plain,) = (system for system in SYSTEMS if system.name == BASE)
    return Figures(replace(scenario, sessions=1).play(plain))


def speedups(sweep: Sequence[Comparison]) -> dict[str, Json]:
    """Over a sweep: the least, and of all sessions together; with what was published."""
    ratios = [one.figures[BASE].mean_s / one.figures[OURS].mean_s for one in sweep]
    base, ours = (sum(one.figures[name].mean_s for one in sweep) for name in (BASE, OURS))
    return {"least": round(min(ratios), 4), "pooled": round(base / ours, 4), "published": dict(PUBLISHED_SPEEDUP)}
