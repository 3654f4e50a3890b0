"""Replays tasks through a live sidecar process: one side without speculation, one with it."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import aiohttp

from paste_proxy.bench.account import Account, settle
from paste_proxy.bench.agent import Agent, Played, Road
from paste_proxy.bench.pace import Pace
from paste_proxy.bench.roads import DispatchRoad
from paste_proxy.bench.sidecar import Setting, running_sidecar
from paste_proxy.bench.standins import RecordedLlm, RecordedTools
from paste_proxy.bench.workload import Task
from paste_proxy.speculation.types import Mode
from paste_proxy.testing import ScriptedLlm, ScriptedTools

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


async def play_side(
    tasks: list[Task], mode: Mode, *, speed: float, on_task: Callable[[Played], None] = lambda _: None
) -> Side:
    """Play all tasks at once through a sidecar of their own.

    Raises:
        OurFault: the sidecar did not start, or answered an agent with a fault.
    """
    pace = Pace(speed)
    worlds = _worlds(tasks, pace)
    llm = RecordedLlm((task.script for task in tasks), pace)
    async with AsyncExitStack() as stack:
        llm_server = await stack.enter_async_context(ScriptedLlm(llm.answer))
        setting = Setting(
            mode=mode,
            llm=f"{llm_server.url}/v1",
            tools=await _serve_tools(stack, tasks, worlds),
            mcp={},
            ttl_s=_TTL_S / speed,
            min_benefit_s=_MIN_BENEFIT_S / speed,
        )
        sidecar = await stack.enter_async_context(running_sidecar(setting))
        http = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))

        async def play(task: Task) -> Played:
            road: Road = DispatchRoad(http, sidecar.url, task.script.session)
            agent = Agent(task.script, http=http, llm=f"{sidecar.url}/v1", road=road, pace=pace)
            played = await agent.play()
            on_task(played)
            return played

        async with asyncio.TaskGroup() as group:
            running = [group.create_task(play(task)) for task in tasks]
        played = tuple(task.result() for task in running)
    return _side(mode, tasks, played, worlds)


def _worlds(tasks: Iterable[Task], pace: Pace) -> dict[str, RecordedTools]:
    members: dict[str, list[Task]] = {}
    for task in tasks:
        members.setdefault(task.world, []).append(task)
    return {name: RecordedTools(name, [task.script for task in own], pace) for name, own in members.items()}


async def _serve_tools(stack: AsyncExitStack, tasks: list[Task], worlds: dict[str, RecordedTools]) -> dict[str, str]:
    """The tools that the sidecar runs itself, by name."""
    shared = [task for task in tasks if not task.own_world]
    if not shared:
        return {}
    server = await stack.enter_async_context(ScriptedTools(worlds[shared[0].world].run))
    names = sorted({call.invocation.tool for task in shared for call in task.script.calls})
    return {name: f"{server.url}/{name}" for name in names}


def _side(mode: Mode, tasks: list[Task], played: tuple[Played, ...], worlds: dict[str, RecordedTools]) -> Side:
    asks = [ask for task in played for ask in task.asks]
    runs = [run for tools in worlds.values() for run in tools.runs]
    world_of = {task.script.session: task.world for task in tasks}
    written = {name: tuple(tools.world.written) for name, tools in worlds.items()}
    return Side(mode=mode, played=played, account=settle(asks, runs, world_of), written=written)
