"""Agents that play a block through a sidecar and take the time of each call, from its sending to its result."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import quote

import aiohttp
import orjson

from paste_proxy.bench.agent import Road
from paste_proxy.bench.interference.plan import AgentPlan, Kind, PlannedCall
from paste_proxy.bench.interference.tool_servers import HTTP_TOOL
from paste_proxy.bench.roads import DispatchRoad, mcp_road
from paste_proxy.errors import OurFault
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.proxy.dispatch.route import READY_HEADER
from paste_proxy.proxy.http.opting_out import HEADER as AHEAD_HEADER


@dataclass(frozen=True, slots=True)
class Sample:
    """One call."""

    kind: Kind
    took_ms: float
    """As the agent has it."""
    beside_ms: float | None
    """Of that what was not the tool's own time, where it tells that."""


class Agents:
    """The agents of one side.

    Args:
        http: their connections.
        url: the sidecar's.
    """

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http, self._url = http, url
        self.waiting: Counter[str] = Counter()
        """Calls under way, by server."""
        self.waited_s: defaultdict[str, float] = defaultdict(float)
        """Seconds of all calls so far, by server."""

    async def play(self, plans: Sequence[AgentPlan]) -> list[Sample]:
        """All at once; in the order of the plans. Nothing is run ahead for them any more at the end.

        Raises:
            OurFault: a call failed.
        """
        async with asyncio.TaskGroup() as group:
            playing = [group.create_task(self._play(plan)) for plan in plans]
        return [sample for one in playing for sample in one.result()]

    async def _play(self, plan: AgentPlan) -> list[Sample]:
        async with self._road(plan) as road:
            for number, call in enumerate(plan.warming):
                await self._call(road, plan, call, f"warming-{number}")
            samples = [await self._call(road, plan, call, f"call-{number}") for number, call in enumerate(plan.calls)]
            await self._leave(plan.session)
        return samples

    @asynccontextmanager
    async def _road(self, plan: AgentPlan) -> AsyncIterator[Road]:
        if not plan.server:
            yield DispatchRoad(self._http, self._url, plan.session)
            return
        async with mcp_road(self._http, self._url, plan.session, plan.server) as road:
            yield road

    async def _call(self, road: Road, plan: AgentPlan, call: PlannedCall, call_id: str) -> Sample:
        await asyncio.sleep(call.pause_s)
        self.waiting[plan.server] += 1
        began = time.perf_counter()
        try:
            result = await road.call(call.invocation, f"{plan.session}-{call_id}")
        finally:
            took_s = time.perf_counter() - began
            self.waiting[plan.server] -= 1
            self.waited_s[plan.server] += took_s
        if result.status is not Status.OK:
            raise OurFault(f"{call.invocation.tool} failed: {result.body[:300]!r}")
        return Sample(call.kind, took_s * 1e3, _beside_ms(call.kind, took_s * 1e3, result))

    async def _leave(self, session: str) -> None:
        """Want nothing run ahead from now on, which ends all that is."""
        url = f"{self._url}/paste/v1/sessions/{quote(session, safe='')}/tools/{HTTP_TOOL}"
        async with self._http.post(url, data=b"{}", headers={AHEAD_HEADER: "off", READY_HEADER: "yes"}) as answer:
            await answer.read()


def _beside_ms(kind: Kind, took_ms: float, result: ToolResult) -> float | None:
    return took_ms - float(orjson.loads(result.body)["own_ms"]) if kind in (Kind.HTTP, Kind.MCP) else None
