"""Plays tasks through a live sidecar process, all at once."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar, assert_never

import aiohttp

from paste_proxy.bench.account import Account, settle
from paste_proxy.bench.agent import Agent, Played, Road
from paste_proxy.bench.pace import Pace
from paste_proxy.bench.roads import MCP_POLICY, MCP_SERVER, DispatchRoad, mcp_road, sdk_road
from paste_proxy.bench.sidecar import Setting, running_sidecar
from paste_proxy.bench.standins import RecordedLlm, RecordedTools
from paste_proxy.bench.workload import Task, Workload
from paste_proxy.speculation.types import Mode
from paste_proxy.testing import ScriptedLlm, ScriptedMcp, ScriptedTools

_T = TypeVar("_T")

_TTL_S = 120.0
_MIN_BENEFIT_S = 0.02


@dataclass(frozen=True, slots=True)
class Side:
    """All tasks, played once."""

    mode: Mode
    played: tuple[Played, ...]
    """In the order of the tasks."""
    account: Account
    written: dict[str, tuple[str, ...]]
    """World -> keys of the writes carried out in it, in order where one task owns it."""

    @property
    def task_s(self) -> float:
        """Sum over the tasks."""
        return sum(task.task_s for task in self.played)

    @property
    def exposed_s(self) -> float:
        """Sum of the time the tasks waited for tools."""
        return sum(task.time_in("tool") for task in self.played)


async def play(
    tasks: Sequence[Task], mode: Mode, *, speed: float, on_task: Callable[[Played], None] = lambda _: None
) -> Side:
    """Play tasks through a sidecar of their own.

    Args:
        tasks: which; those that share a world must not contradict each other.
        mode: the sidecar's.
        speed: how many times as fast as life.
        on_task: told of each task's end.

    Raises:
        OurFault: the sidecar did not start, or answered an agent with a fault.
    """
    pace = Pace(speed)
    worlds = _worlds(tasks, pace)
    async with AsyncExitStack() as stack:
        setting = await _serve(stack, mode, tasks, worlds, pace)
        sidecar = await stack.enter_async_context(running_sidecar(setting))
        http = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))

        async def play_one(task: Task) -> Played:
            tools = _tools_of(tasks, task.workload)
            async with _road(task, http, sidecar.url, worlds[task.world], tools) as road:
                agent = Agent(task.script, http=http, llm=f"{sidecar.url}/v1", road=road, pace=pace, tools=tools)
                played = await agent.play()
            on_task(played)
            return played

        played = await together(play_one(task) for task in tasks)
    return _side(mode, tasks, played, worlds)


async def together(work: Iterable[Coroutine[None, None, _T]]) -> tuple[_T, ...]:
    """What each gives, in order; the first fault ends them all and is raised as it is."""
    running = [asyncio.ensure_future(one) for one in work]
    try:
        return tuple(await asyncio.gather(*running))
    finally:
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@asynccontextmanager
async def _road(
    task: Task, http: aiohttp.ClientSession, url: str, world: RecordedTools, tools: Sequence[str]
) -> AsyncIterator[Road]:
    """The way of a task's tool calls: each kind of agent has its own."""
    session = task.script.session
    match task.workload:
        case Workload.AIRLINE:
            async with sdk_road(url, session, tools, world.run) as sdk:
                yield sdk
        case Workload.RESEARCH:
            async with mcp_road(http, url, session) as mcp:
                yield mcp
        case Workload.CODING:
            yield DispatchRoad(http, url, session)
        case _:
            assert_never(task.workload)


def _worlds(tasks: Iterable[Task], pace: Pace) -> dict[str, RecordedTools]:
    members: dict[str, list[Task]] = {}
    for task in tasks:
        members.setdefault(task.world, []).append(task)
    return {name: RecordedTools(name, [task.script for task in own], pace) for name, own in members.items()}


async def _serve(
    stack: AsyncExitStack, mode: Mode, tasks: Sequence[Task], worlds: dict[str, RecordedTools], pace: Pace
) -> Setting:
    """Start the stand-ins; gives what the sidecar is told of them."""
    llm = await stack.enter_async_context(ScriptedLlm(RecordedLlm((task.script for task in tasks), pace).answer))
    configured = _tools_of(tasks, Workload.CODING)
    tools = mcp = ""
    if configured:
        tools = (await stack.enter_async_context(ScriptedTools(worlds[Workload.CODING].run))).url
    if served := _tools_of(tasks, Workload.RESEARCH):
        mcp = (await stack.enter_async_context(ScriptedMcp(served, worlds[Workload.RESEARCH].run))).url
    return Setting(
        mode=mode,
        llm=f"{llm.url}/v1",
        tools={name: f"{tools}/{name}" for name in configured},
        mcp={MCP_SERVER: f"{mcp}/mcp"} if served else {},
        policy=MCP_POLICY,
        ttl_s=_TTL_S / pace.speed,
        min_benefit_s=_MIN_BENEFIT_S / pace.speed,
    )


def _tools_of(tasks: Sequence[Task], workload: Workload) -> list[str]:
    return sorted({tool for task in tasks if task.workload is workload for tool in task.tools})


def _side(mode: Mode, tasks: Sequence[Task], played: tuple[Played, ...], worlds: dict[str, RecordedTools]) -> Side:
    asks = [ask for task in played for ask in task.asks]
    runs = [run for tools in worlds.values() for run in tools.runs]
    world_of = {task.script.session: task.world for task in tasks}
    written = {name: tuple(tools.world.written) for name, tools in worlds.items()}
    return Side(mode=mode, played=played, account=settle(asks, runs, world_of), written=written)
