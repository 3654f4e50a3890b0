"""The agents of the measurement, and the servers behind the sidecar that they talk through."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, assert_never

import aiohttp

from paste_proxy.bench.agent import Agent, Played, Road
from paste_proxy.bench.replay import together
from paste_proxy.bench.roads import DispatchRoad, McpRoad, mcp_road, sdk_road
from paste_proxy.bench.side_effects.bad_adviser import bad_adviser
from paste_proxy.bench.side_effects.persons import Watched
from paste_proxy.bench.side_effects.setting import Served
from paste_proxy.bench.side_effects.surroundings import Surroundings
from paste_proxy.bench.side_effects.tools import CRM, DISPATCH, OWN, WEB, WORKBENCH, names
from paste_proxy.bench.side_effects.traffic import TOGETHER, Kind, Task, batches, packaged
from paste_proxy.errors import OurFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.testing import ScriptedLlm, ScriptedMcp, ScriptedTools

_A_SESSION = 100
"""About as many candidates come of one."""
_EVERY_TOOL = [name for server in (OWN, DISPATCH, WEB, CRM, WORKBENCH) for name in names(server)]


@asynccontextmanager
async def serving(surroundings: Surroundings) -> AsyncIterator[Served]:
    """The LLM, the tool servers and the adviser listen."""

    def runner(server: str) -> Callable[[Invocation], Awaitable[ToolResult]]:
        return lambda invocation: surroundings.run(server, invocation)

    async with (
        ScriptedLlm(surroundings.answer) as llm,
        bad_adviser(surroundings.unwanted) as adviser,
        ScriptedTools(runner(DISPATCH)) as tools,
        ScriptedMcp(names(WEB), runner(WEB)) as web,
        ScriptedMcp(names(CRM), runner(CRM)) as crm,
    ):
        yield Served(
            llm=llm.url,
            adviser=adviser,
            tools={name: f"{tools.url}/{name}" for name in names(DISPATCH)},
            mcp={WEB: f"{web.url}/mcp", CRM: f"{crm.url}/mcp"},
        )


async def play(
    surroundings: Surroundings, url: str, *, until: int, on_refused: Callable[[int], None] = lambda _: None
) -> dict[str, Any]:
    """Sessions through the sidecar at `url`; its own figures at the end.

    Args:
        until: it has refused so many candidates. Those that it ran come on top.
        on_refused: told how many it has refused so far.

    Raises:
        OurFault: it answered an agent with a fault, or foresees nothing.
    """
    tasks, refused = await asyncio.to_thread(packaged), 0
    side_by_side = max(len(Kind), min(TOGETHER, until // _A_SESSION))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        for batch in batches(tasks, side_by_side):
            surroundings.enter(batch)
            await together(_session(task, surroundings, http, url) for task in batch)
            async with http.get(f"{url}/paste/v1/stats") as answer:
                stats: dict[str, Any] = await answer.json()
            before, refused = refused, sum(stats["refused"].values())
            on_refused(refused)
            if refused >= until:
                return stats
            if refused == before:
                break
    raise OurFault("the measured sidecar foresees nothing")


async def _session(task: Task, surroundings: Surroundings, http: aiohttp.ClientSession, url: str) -> Played:
    """One agent, connected to all there is."""
    session, pace = task.script.session, surroundings.pace
    async with AsyncExitStack() as stack:
        mcp = {
            server: await stack.enter_async_context(mcp_road(http, url, session, server))
            for server in (WEB, CRM, WORKBENCH)
        }
        road = await stack.enter_async_context(_road(task, surroundings, http, url, mcp))
        watched, script = Watched(road, task, surroundings), surroundings.spoken(task)
        return await Agent(script, http=http, llm=f"{url}/v1", road=watched, pace=pace, tools=_EVERY_TOOL).play()


@asynccontextmanager
async def _road(
    task: Task, surroundings: Surroundings, http: aiohttp.ClientSession, url: str, mcp: Mapping[str, McpRoad]
) -> AsyncIterator[Road]:
    """The way of the calls that an agent makes."""
    session = task.script.session
    match task.kind:
        case Kind.AIRLINE:

            async def run(invocation: Invocation) -> ToolResult:
                return await surroundings.run_own(session, invocation)

            async with sdk_road(url, session, names(OWN), run) as sdk:
                yield sdk
        case Kind.CODING:
            yield DispatchRoad(http, url, session)
        case Kind.RESEARCH | Kind.PROJECT:
            yield mcp[task.kind]
        case _:
            assert_never(task.kind)
