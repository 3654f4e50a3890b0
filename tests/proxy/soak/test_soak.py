"""Sessions over real sockets, under faults of everyone: agents see, byte for byte, what they see in mode off.

One run has the sidecar in mode off, the other lets it speculate on a pool that also predicts writes, unknown
tools and far too much. LLM streams, dispatch, MCP and SDK share one database of reads and writes.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, DispatchTool, Learning, Limits, LlmRoute, McpServer, Recording, Speculating
from paste_proxy.proxy.app import TRAFFIC, build_app
from paste_proxy.proxy.composition import Sidecar, forwarding_only
from paste_proxy.proxy.server import app_runner
from paste_proxy.speculation.types import Mode
from tests.proxy.mcp.parts import until
from tests.proxy.soak.agents import live, plans
from tests.proxy.soak.world import READ, UNRULED, WRITE, World, listening

POLICY = """
[[rule]]
tool = ["read", "db/read", "sdk_read"]
effect = "read"
reads = ["data:{space}"]
expected_s = 0.5

[[rule]]
tool = ["write", "db/write", "sdk_write"]
effect = "write"
writes = ["data:{space}"]
"""
HOSTILE = "".join(
    f"""
[[pattern]]
id = "{number}"
tool = "{tool}"
confidence = 0.9
{"repeat = true" if what == "repeat" else what}
"""
    for number, (tool, what) in enumerate(
        (tool, what)
        for tool in ("read", "write", "sdk_read", "sdk_write", "db/read", "db/write", "mystery", "rm -rf", "../x")
        for what in (
            "repeat",
            'arguments.space = { from = "call", tool = "*", take = "/space" }\n'
            'arguments.key = { from = "call", tool = "*", take = "/key", which = "each" }',
            'arguments.key = { from = "output", tool = "*", take = "/key" }\narguments.x = { constant = 1 }',
        )
    )
)
AT_ONCE = 60
"""More sessions than the sidecar remembers, few enough that each is given some of its idle capacity."""
FILES = {"policy.toml": POLICY, "pool.toml": HOSTILE}


@dataclass
class Ran:
    views: dict[str, list[Any]]
    world: World
    hits: int
    launched: int


def config(folder: Path, base: str, mode: Mode) -> Config:
    return Config(
        llm=(LlmRoute(path="/v1", upstream=f"{base}/v1"),),
        mcp={"db": McpServer(url=f"{base}/mcp")},
        tools={name: DispatchTool(url=f"{base}/tools/{name}") for name in (READ, WRITE, UNRULED)},
        policies=(str(folder / "policy.toml"),),
        patterns=(str(folder / "pool.toml"),),
        speculation=Speculating(mode=mode, min_benefit_s=0, held_results=50, result_bytes=100_000),
        recording=Recording(directory=folder / mode.value),
        learning=Learning(enabled=False),  # it would see through this pool and launch next to nothing
        limits=Limits(sessions=40, window_events=16),
    )


async def run(mode: Mode, folder: Path, seed: int, sessions: int, turns: int) -> Ran:
    world = World(plans(seed, sessions, turns))
    async with world.served() as base:
        wanted = config(folder, base, mode)
        sidecar = None if mode is Mode.OFF else await asyncio.to_thread(Sidecar, wanted, SystemClock())
        parts = forwarding_only(wanted) if sidecar is None else sidecar.parts()
        app = build_app(wanted, parts)
        before = asyncio.all_tasks()
        async with listening(app_runner(app)) as url:
            views = await live(url, world, unnamed=4, at_once=AT_ONCE)
            await until(lambda: not app[TRAFFIC].live and not world.talking and not world.database.busy, 20)
            assert not parts.tally.faults
            assert sidecar is None or len(sidecar.sessions) <= wanted.limits.sessions
    await until(lambda: not {task for task in asyncio.all_tasks() - before if "aiohttp" not in repr(task)})
    hits = parts.tally.calls["reused"] + parts.tally.calls["promoted"]
    return Ran(views, world, hits, parts.tally.launched)


def written(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")


def compare(plain: Ran, ours: Ran) -> None:
    for space, view in plain.views.items():
        for at, (one, other) in enumerate(zip(view, ours.views[space], strict=True)):
            assert one == other, f"{space}, view {at}"
    assert ours.world.database.written == plain.world.database.written
    assert ours.world.database.values == plain.world.database.values


@pytest.mark.parametrize("seed", [1, 2])
async def test_agents_see_what_they_see_in_mode_off(tmp_path: Path, seed: int) -> None:
    await asyncio.to_thread(written, tmp_path)
    plain = await run(Mode.OFF, tmp_path, seed, sessions=24, turns=6)
    ours = await run(Mode.SPECULATE, tmp_path, seed, sessions=24, turns=6)
    compare(plain, ours)
    assert ours.hits >= 10
    assert ours.launched > ours.hits


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(3, 5))
async def test_two_hundred_sessions_see_what_they_see_in_mode_off(tmp_path: Path, seed: int) -> None:
    await asyncio.to_thread(written, tmp_path)
    plain = await run(Mode.OFF, tmp_path, seed, sessions=200, turns=12)
    ours = await run(Mode.SPECULATE, tmp_path, seed, sessions=200, turns=12)
    compare(plain, ours)
    assert ours.hits >= 10
