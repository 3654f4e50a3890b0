"""The two sidecars of a measurement, and blocks of calls through one of them."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

from paste_proxy.bench.interference.durations import recorded
from paste_proxy.bench.interference.folder import make_folder
from paste_proxy.bench.interference.guesses import POLICY, WORKBENCH, pool_text
from paste_proxy.bench.interference.plan import LOADS, QUIET_WORKBENCH, SLOTS, AgentPlan
from paste_proxy.bench.interference.playing import Agents, Sample
from paste_proxy.bench.interference.saturation import Saturation, settled
from paste_proxy.bench.interference.tool_servers import HTTP_TOOL, MCP_SERVER, tool_servers
from paste_proxy.bench.sidecar import Setting, running_sidecar
from paste_proxy.speculation.types import Mode

_LOOK_S = 0.1
_SETTLE_S = 20.0
_POOL = "wrong.json"


class Side:
    """One sidecar and the agents behind it."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http, self._url = http, url
        self._agents = Agents(http, url)

    async def block(self, plans: Sequence[AgentPlan], capacity: Sequence[str], saturation: Saturation) -> list[Sample]:
        """Play a block.

        Args:
            capacity: the servers whose slots are to be full.
            saturation: told how full they were.
        """
        before, began, waited = await self._stats(), time.monotonic(), self._waited_s(capacity)
        looking = asyncio.create_task(self._look(capacity, saturation))
        try:
            samples = await self._agents.play(plans)
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
        wall_s = time.monotonic() - began
        after = await self._settled()
        saturation.add(before, after, wall_s=wall_s, waited_s=self._waited_s(capacity) - waited)
        return samples

    def _waited_s(self, capacity: Sequence[str]) -> float:
        return sum(self._agents.waited_s[server] for server in capacity)

    async def _look(self, capacity: Sequence[str], saturation: Saturation) -> None:
        while True:
            await asyncio.sleep(_LOOK_S)
            running = (await self._stats())["running"]
            saturation.look(running, sum(self._agents.waiting[server] for server in capacity))

    async def _settled(self) -> dict[str, Any]:
        async with asyncio.timeout(_SETTLE_S):
            while True:
                stats = await self._stats()
                if settled(stats):
                    return stats
                await asyncio.sleep(_LOOK_S)

    async def _stats(self) -> dict[str, Any]:
        async with self._http.get(f"{self._url}/paste/v1/stats") as answer:
            stats: dict[str, Any] = await answer.json()
        return stats


@asynccontextmanager
async def both_sides() -> AsyncIterator[tuple[Side, Side]]:
    """The tools and both sidecars, running; first the one that is off."""
    async with AsyncExitStack() as stack:
        made = await asyncio.to_thread(TemporaryDirectory, prefix="paste-bench-")
        stack.push_async_callback(asyncio.to_thread, made.cleanup)
        folder, workspace = Path(made.name), Path(made.name, "workspace")
        await asyncio.to_thread(_make, workspace, folder / _POOL)
        http_tool, mcp = await stack.enter_async_context(tool_servers())
        http = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        sides = []
        for mode in (Mode.OFF, Mode.SPECULATE):
            setting = Setting(
                mode=mode,
                llm="http://127.0.0.1:9/v1",
                tools={HTTP_TOOL: http_tool},
                mcp={MCP_SERVER: mcp},
                workbenches={WORKBENCH: str(workspace), QUIET_WORKBENCH: str(workspace)},
                policy=POLICY,
                patterns=(str(folder / _POOL),),
                min_benefit_s=0.0,
                learns=False,  # it would see that the guesses are wrong, and make none
                slots=SLOTS * len(LOADS),
                capacity=dict.fromkeys(("", MCP_SERVER, WORKBENCH), SLOTS),
            )
            sidecar = await stack.enter_async_context(running_sidecar(setting))
            sides.append(Side(http, sidecar.url))
        yield sides[0], sides[1]


def _make(workspace: Path, pool: Path) -> None:
    recorded()  # read once, off the loop
    workspace.mkdir()
    make_folder(workspace)
    pool.write_text(pool_text(), "utf-8")
