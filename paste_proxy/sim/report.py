"""A comparison as one JSON object."""

from collections.abc import Sequence

from paste_proxy.events.values import Json
from paste_proxy.sim.comparison import OURS, PUBLISHED_CUTS, Comparison, alone, growth, speedups
from paste_proxy.sim.figures import Figures
from paste_proxy.sim.needed import needed_hits
from paste_proxy.sim.systems import SYSTEMS
from paste_proxy.sim.workloads import Workload


def of_load(kind: Workload, comparison: Comparison) -> dict[str, Json]:
    """Of one load."""
    single = alone(comparison.scenario)
    return {**_settings(kind, comparison, single), **_of(comparison, single), "hit_rate_needed": needed(comparison)}


def of_sweep(kind: Workload, sweep: Sequence[Comparison]) -> dict[str, Json]:
    """Of several; `systems` are those under the last one."""
    single = alone(sweep[-1].scenario)
    return {
        **_settings(kind, sweep[-1], single),
        **_of(sweep[-1], single),
        "loads": [_of(one, single) for one in sweep],
        "speedup": speedups(sweep),
    }


def needed(comparison: Comparison) -> dict[str, Json]:
    """By what was published of the mean and of the 99th percentile: the hit rate that would reach it, where that falls
    short; 0 where it does not, None where no hit rate would."""
    (ours,) = (system for system in SYSTEMS if system.name == OURS)
    base, cut = comparison.figures["fcfs"], comparison.cut()
    return {
        what: [
            0.0
            if cut[what] >= published
            else needed_hits(
                comparison.scenario,
                ours,
                (1 - published) * (base.p99_s if what == "p99" else base.mean_s),
                tail=what == "p99",
            )
            for published in PUBLISHED_CUTS[what]
        ]
        for what in PUBLISHED_CUTS
    }


def _settings(kind: Workload, comparison: Comparison, single: Figures) -> dict[str, Json]:
    scenario = comparison.scenario
    return {
        "workload": kind.name,
        "stands_for": kind.what,
        "recordings": len(scenario.material.known),
        "thinking_tokens": scenario.material.thinking,
        "engine": scenario.engine.name,
        "engine_parameters": scenario.engine.report(),
        "engine_knee": round(scenario.engine.knee, 1),
        "arrivals": scenario.pattern.value,
        "seed": scenario.seed,
        "shared": scenario.shared,
        "tool_share_alone": round(single.tool_share, 4),
    }


def _of(comparison: Comparison, single: Figures) -> dict[str, Json]:
    return {
        "sessions": comparison.scenario.sessions,
        "llm_growth": round(growth(comparison, single), 3),
        "systems": comparison.systems(),
        "short_of_published": comparison.short_of(),
    }
