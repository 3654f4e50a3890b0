"""Recorded agents at a real vLLM through a sidecar: both routes answer every turn, and the engine tells its load.

What it gains is measured by `paste-proxy bench agents`; here only what must hold however fast the machine is.
"""

import asyncio
import subprocess
from pathlib import Path

import pytest

from paste_proxy.bench.agents.agent import Shape
from paste_proxy.bench.agents.measure import measure
from paste_proxy.bench.script import Script, build_script
from paste_proxy.sim.workloads import recordings, workload
from tests.engines.vllm_plugin.engine_world import environment, interpreter, start

SESSIONS, TURNS = 32, 3

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]


@pytest.fixture(params=["tiny", "load"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A model of half a million weights, or of a hundred million."""
    python = interpreter()
    if python is None:
        pytest.skip("PASTE_VLLM_PYTHON is not set: needs an interpreter that has vLLM and orjson")
    made = tmp_path / str(request.param)
    command = [python, "-m", "paste_proxy.bench.tiny_models", str(made), "--size", str(request.param)]
    subprocess.run(command, check=True, env=environment(tmp_path), cwd=tmp_path)
    return made


@pytest.fixture(scope="module")
def scripts() -> list[Script]:
    """Recorded sessions that are long enough."""
    built = [build_script(one.id, one.events) for one in recordings(workload("service"))]
    return [script for script in built if len(script.turns) >= TURNS][:SESSIONS]


async def test_every_turn_is_answered_unpaced_and_paced(model: Path, tmp_path: Path, scripts: list[Script]) -> None:
    shape = Shape(turns=TURNS, answer_tokens=12, text_tokens=40, speed=20.0)
    engine = await asyncio.to_thread(start, tmp_path, model, "--max-model-len", "2048", PASTE_VLLM="0")
    try:
        report = await measure(f"{engine.base}/v1", "vllm", scripts, shape, sessions=SESSIONS, rounds=1, gap_s=0.02)
    finally:
        await asyncio.to_thread(engine.stop)
    assert report["turns"] == SESSIONS * TURNS
    pacing = report["pacing"]
    assert isinstance(pacing, dict)
    assert (pacing["admitted"], pacing["late"], pacing["turned_away"]) == (SESSIONS * TURNS, 0, 0)
    assert (pacing["held"], pacing["running"], pacing["left"]) == (0, 0, 0)
    assert pacing["load_unread"] == 0
    assert pacing["band"] is not None
    print(report)
