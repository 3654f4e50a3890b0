"""Whole small worlds: recorded sessions of the package, from the first arrival to the last end."""

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from paste_proxy.mining import pool as pools
from paste_proxy.proxy.named_files import read_patterns, read_policy
from paste_proxy.sim.arrivals import Pattern
from paste_proxy.sim.comparison import alone, compare, growth
from paste_proxy.sim.engine_model import LINEAR, PAPER, EngineModel
from paste_proxy.sim.figures import Figures
from paste_proxy.sim.needed import foretold
from paste_proxy.sim.scenario import Material, Scenario, prepare
from paste_proxy.sim.systems import SYSTEMS, System
from paste_proxy.sim.workloads import recordings, workload
from paste_proxy.speculation import policy as policies
from paste_proxy.turns.gate import Gate
from paste_proxy.turns.types import Admit, Command, Told, TurnReady

BY_NAME = {system.name: system for system in SYSTEMS}
SMALL = EngineModel(name="small", step_s=0.01, turn_s=0.0005, prompt_s=0.00002, max_batch=8, kv_tokens=60_000)
"""One that has neither places nor room for all."""


@cache
def material(name: str = "science") -> Material:
    kind = workload(name)
    found = recordings(kind)
    policy = policies.combine([read_policy(one) for one in kind.policies])
    pool = pools.combine([read_patterns(one) for one in kind.pools])
    return prepare(found, policy, [pool] * len(found), kind.spelling)


class Watched:
    """A gate, and what goes in and out of it."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.ready: Counter[int] = Counter()
        self.admitted: Counter[int] = Counter()

    def step(self, told: Told, now: float) -> list[Command]:
        if isinstance(told, TurnReady):
            self.ready[told.turn] += 1
        commands = self._gate.step(told, now)
        self.admitted.update(one.turn for one in commands if isinstance(one, Admit))
        return commands

    def next_deadline(self) -> float | None:
        return self._gate.next_deadline()


@pytest.mark.parametrize("engine", [PAPER, SMALL], ids=lambda engine: engine.name)
@pytest.mark.parametrize("pattern", list(Pattern))
@pytest.mark.parametrize("name", list(BY_NAME))
def test_each_turn_is_admitted_once_and_each_session_does_all_that_was_recorded(
    name: str, pattern: Pattern, engine: EngineModel
) -> None:
    gates = list[Watched]()

    def watched(model: EngineModel) -> Watched:
        gates.append(Watched(BY_NAME[name].gate(model)))
        return gates[-1]

    scenario = Scenario(material(), engine, 24, pattern=pattern)
    (world,) = scenario.play(System(name, BY_NAME[name].ahead, watched))
    turns = sum(len(one.arrival.course.turns) for one in world.played)
    assert gates[0].admitted == gates[0].ready == dict.fromkeys(range(1, turns + 1), 1)
    assert len(world.played) == 24
    for one in world.played:
        assert one.tooling.asked == len(one.arrival.course.calls)
        assert one.tooling.hits + one.tooling.early <= one.tooling.asked
        assert one.queue_s + one.llm_s + one.exposed_s <= one.e2e_s + 1e-6
    written = sum(one.arrival.course.answers_tokens for one in world.played)
    assert world.engine.produced == pytest.approx(written, rel=1e-6)


def test_a_seed_is_a_run() -> None:
    def figures(seed: int) -> object:
        scenario = Scenario(material(), PAPER, 48, seed, Pattern.BURSTY)
        return compare(scenario, [BY_NAME["fcfs"], BY_NAME["paste"]]).systems()

    assert figures(1) == figures(1)
    assert figures(1) != figures(2)


@pytest.mark.parametrize("engine", [PAPER, LINEAR], ids=lambda engine: engine.name)
@pytest.mark.parametrize("sessions", [1, 8, 32, 64])
def test_it_is_never_worse_than_plain_serving_nor_than_tools_run_ahead_alone(
    engine: EngineModel, sessions: int
) -> None:
    found = compare(Scenario(material(), engine, sessions), [BY_NAME[name] for name in ("fcfs", "tool_only", "paste")])
    ours = found.figures["paste"].mean_s
    assert ours <= 1.01 * found.figures["fcfs"].mean_s
    assert ours <= 1.01 * found.figures["tool_only"].mean_s


def test_under_the_papers_load_both_halves_are_needed() -> None:
    found = compare(
        Scenario(material(), PAPER, 192), [BY_NAME[name] for name in ("fcfs", "tool_only", "llm_only", "paste")]
    )
    times = {name: figures.mean_s for name, figures in found.figures.items()}
    assert times["paste"] < times["llm_only"] < times["tool_only"]
    assert found.cut()["mean"] > 0.485
    outside = found.figures["paste"].report()["outside_band"]
    assert isinstance(outside, float)
    assert outside < 0.05


def test_the_papers_engine_gives_the_papers_curve() -> None:
    scenario = Scenario(material("deep-research"), PAPER, 192)
    single = alone(scenario)
    assert 0.45 <= single.tool_share <= 0.57
    assert growth(compare(scenario, [BY_NAME["fcfs"]]), single) > 17


def test_more_that_is_foreseen_is_less_that_is_waited_for() -> None:
    scenario = Scenario(material(), LINEAR, 8)
    nothing, half, everything = (
        Figures(foretold(scenario, share).play(BY_NAME["paste"])).report() for share in (0.0, 0.5, 1.0)
    )
    assert nothing["hit_rate"] == 0.0 < half["hit_rate"] < everything["hit_rate"]  # type: ignore[operator]
    assert everything["exposed_tool_s"] < half["exposed_tool_s"] < nothing["exposed_tool_s"]  # type: ignore[operator]


def test_behind_one_sidecar_all_is_done_too() -> None:
    worlds = replace(Scenario(material(), PAPER, 12), shared=True).play(BY_NAME["paste"])
    assert all(one.ended > 0.0 for world in worlds for one in world.played)
