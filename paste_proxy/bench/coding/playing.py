"""Plays coding sessions in the project, one after another, through a sidecar of their own."""

import asyncio
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp

from paste_proxy.bench.agent import Agent, Played, Road
from paste_proxy.bench.coding.lived import SERVER
from paste_proxy.bench.coding.project import make_project
from paste_proxy.bench.pace import Pace
from paste_proxy.bench.roads import mcp_road
from paste_proxy.bench.script import Script, ScriptedCall
from paste_proxy.bench.sidecar import Setting, running_sidecar
from paste_proxy.bench.standins import RecordedLlm
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import Json
from paste_proxy.speculation.types import Mode
from paste_proxy.testing import ScriptedLlm

POOL = Path(__file__).with_name("pool.json")
"""Mined from other sessions of the same recordings, lived in the same project."""
_PREFIX = f"mcp__{SERVER}__"
_TIMES = re.compile(rb"(Ran \d+ tests? in )\d+\.\d+s")


@dataclass(frozen=True, slots=True)
class Side:
    """All sessions, played once."""

    mode: Mode
    played: tuple[Played, ...]
    stats: dict[str, Json]
    """What the sidecar counted."""

    @property
    def task_s(self) -> float:
        """Sum over the sessions."""
        return sum(task.task_s for task in self.played)

    @property
    def exposed_s(self) -> float:
        """Sum of the time the sessions waited for tools."""
        return sum(task.time_in("tool") for task in self.played)


async def play(
    scripts: Sequence[Script],
    mode: Mode,
    *,
    folder: Path,
    speed: float,
    pool: Path = POOL,
    on_task: Callable[[Played], None] = lambda _: None,
) -> Side:
    """Play sessions in a project of their own.

    Args:
        folder: where the project is put; what is there goes.
        speed: how many times as fast as life the LLM answers, and the tools' times are told.

    Raises:
        OurFault: the sidecar did not start, or answered an agent with a fault.
    """
    await asyncio.to_thread(_anew, folder)
    pace = Pace(speed)
    async with AsyncExitStack() as stack:
        llm = await stack.enter_async_context(ScriptedLlm(RecordedLlm(map(spelled, scripts), pace).answer))
        sidecar = await stack.enter_async_context(running_sidecar(_setting(mode, f"{llm.url}/v1", folder, pool)))
        http = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        played = []
        for script in scripts:
            async with mcp_road(http, sidecar.url, script.session, SERVER) as road:
                played.append(
                    await Agent(
                        spelled(script),
                        http=http,
                        llm=f"{sidecar.url}/v1",
                        road=_Prefixed(road),
                        pace=pace,
                        masked=without_times,
                    ).play()
                )
            on_task(played[-1])
        async with http.get(f"{sidecar.url}/paste/v1/stats") as answer:
            stats = await answer.json()
    return Side(mode=mode, played=tuple(played), stats=stats)


class _Prefixed:
    """A road for an agent that puts the server's name before its tools', as coding agents do."""

    def __init__(self, road: Road) -> None:
        self._road = road

    async def call(self, invocation: Invocation, call_id: str) -> ToolResult:
        """The answer of the tool that is meant."""
        return await self._road.call(Invocation(invocation.tool.removeprefix(_PREFIX), invocation.arguments), call_id)


def spelled(script: Script) -> Script:
    """The session with tools as such an agent's LLM spells them."""
    turns = (replace(turn, calls=tuple(map(_spelled, turn.calls))) for turn in script.turns)
    return replace(script, turns=tuple(turns))


def _spelled(call: ScriptedCall) -> ScriptedCall:
    return replace(call, invocation=Invocation(_PREFIX + call.invocation.tool, call.invocation.arguments))


def without_times(output: bytes) -> bytes:
    """A tool's output without how long the test runner says that it took."""
    return _TIMES.sub(rb"\1a while", output)


def _anew(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    make_project(folder)


def _setting(mode: Mode, llm: str, folder: Path, pool: Path) -> Setting:
    return Setting(mode=mode, llm=llm, tools={}, mcp={}, workbenches={SERVER: str(folder)}, patterns=(str(pool),))
