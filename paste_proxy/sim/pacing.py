"""The figures of the paper's evaluation, each from the simulator: what is drawn, and what was published beside it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from paste_proxy.events.values import Json
from paste_proxy.sim.arrivals import Pattern
from paste_proxy.sim.comparison import BASE, OURS, PUBLISHED_CUTS, PUBLISHED_SPEEDUP, Comparison, compare
from paste_proxy.sim.ranks import Ranks, ranks
from paste_proxy.sim.scenario import Scenario
from paste_proxy.sim.systems import SYSTEMS

LOADS = (1, 16, 48, 96, 192)
PUBLISHED: Mapping[str, Json] = {
    "e2e": {"cut_mean": list(PUBLISHED_CUTS["mean"]), "cut_p99": list(PUBLISHED_CUTS["p99"])},
    "breakdown": {"tools_s": 34, "tools_beside_s": [84, 89], "llm_s": 186, "llm_beside_s": [226, 249]},
    "scaling": {BASE: dict(PUBLISHED_SPEEDUP), "agentix": {"least": 1.24, "pooled": 1.30}},
    "ablation": {"tool_only": 419, "llm_only": 342, OURS: 270},
    "prediction": {"top1": 0.278, "top3": 0.439, "hit_rate": 0.938},
}
"""Of figures 10, 15, 16, 17 and 18; seconds are of the paper's own tasks."""
TOOL_SIDE = (BASE, "specfaas", OURS)
"""Those whose tool throughput is looked at (figure 13)."""


@dataclass(frozen=True)
class Paced:
    """A workload under loads up to the paper's."""

    name: str
    sweep: Sequence[Comparison]
    bursty: Comparison
    """The largest load, as functions are called in Azure's trace."""
    ranks: Ranks

    @property
    def most(self) -> Comparison:
        """The largest load."""
        return self.sweep[-1]

    def speedups(self, beside: str) -> list[float]:
        """Under each load."""
        return [one.figures[beside].mean_s / one.figures[OURS].mean_s for one in self.sweep]

    def answered(self, name: str) -> list[float]:
        """When tools answered, under bursty arrivals."""
        return sorted(at for world in self.bursty.figures[name].worlds for at in world.answered)

    def report(self) -> dict[str, Json]:
        """What is drawn, in numbers."""
        answered = {name: self.answered(name) for name in TOOL_SIDE}
        ours = self.most.figures[OURS].report()
        return {
            "loads": [one.scenario.sessions for one in self.sweep],
            "systems": self.most.systems(),
            "speedup": {beside: [round(ratio, 4) for ratio in self.speedups(beside)] for beside in (BASE, "agentix")},
            "tools_per_minute": {name: round(60 * len(at) / at[-1], 2) for name, at in answered.items() if at},
            "prediction": {**self.ranks.report(), "hit_rate": ours["hit_rate"]},
        }


def paced(name: str, scenario: Scenario, on_load: Callable[[], None] = lambda: None) -> Paced:
    """Play the loads of the paper.

    Args:
        scenario: its number of sessions is the largest load.
    """
    loads = [*(load for load in LOADS if load < scenario.sessions), scenario.sessions]
    sweep = []
    for load in loads:
        sweep.append(compare(replace(scenario, sessions=load)))
        on_load()
    tool_side = [system for system in SYSTEMS if system.name in TOOL_SIDE]
    bursty = compare(replace(scenario, pattern=Pattern.BURSTY), tool_side)
    on_load()
    return Paced(name, sweep, bursty, ranks(scenario.material))
