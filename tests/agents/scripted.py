"""A live sidecar end for SDK tests: real aiohttp on a loopback port before a gate that follows a script."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

from aiohttp import web

from paste_proxy.config import Config
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import Outcome
from paste_proxy.events.values import Json
from paste_proxy.proxy.dispatch.route import add_dispatch_routes
from paste_proxy.proxy.ports import NO_ARGUMENTS, AgentCall, Decision, RunIt, ServeIt
from paste_proxy.speculation.hints import NO_HINTS, Hints
from paste_proxy.tools.backend import Backend

SOON = 5.0
"""Bound of every wait in a test, in seconds."""


class ScriptedGate:
    """Launches jobs through the backends offered to it and serves them to the calls they foresaw."""

    def __init__(self) -> None:
        self.offers: dict[str, tuple[Backend, frozenset[str]]] = {}
        self.asked: list[AgentCall] = []
        self.over: dict[int, ToolResult | None] = {}
        self.withdrawn: list[str] = []
        self.deaf = False
        """Answer no question at all."""
        self._jobs: dict[tuple[str, str], asyncio.Task[ToolResult]] = {}
        self._changed = asyncio.Condition()
        self._numbers = count(1)
        self._told: set[asyncio.Task[None]] = set()

    async def ask(self, call: AgentCall) -> Decision:
        """Serve the job that foresaw this call, waiting for it; else run."""
        self.asked.append(call)
        number = next(self._numbers)
        self._tell()
        if self.deaf:
            await asyncio.Event().wait()
        job = self._jobs.pop((call.scope, call.invocation.key), None)
        if job is None:
            return RunIt(number)
        outcome = Outcome.REUSED if job.done() else Outcome.PROMOTED
        try:
            return ServeIt(result=await job, outcome=outcome, job=number)
        except UpstreamFault:
            return RunIt(number)

    def ended(self, ticket: int, result: ToolResult | None) -> None:
        """Note the end of a call, which comes once."""
        assert ticket not in self.over
        self.over[ticket] = result
        self._tell()

    def offer(
        self,
        scope: str,
        server: str,
        backend: Backend,
        tools: Iterable[str],
        *,
        session: str | None = None,
        beside: Mapping[str, frozenset[str]] = NO_ARGUMENTS,
        hints: Mapping[str, Hints] = NO_HINTS,
    ) -> None:
        """Note an offer."""
        assert server == ""
        self.offers[scope] = backend, frozenset(tools)
        self._tell()

    def withdraw(self, scope: str) -> None:
        """Cancel the scope's jobs, as the hub does."""
        self.withdrawn.append(scope)
        self.offers.pop(scope, None)
        for key in [key for key in self._jobs if key[0] == scope]:
            self._jobs.pop(key).cancel()
        self._tell()

    # --- the script -------------------------------------------------------------------------------

    async def launch(self, session: str, tool: str, arguments: dict[str, Json]) -> asyncio.Task[ToolResult]:
        """Start a job once the session offers the tool."""
        scope = await self.scope_offering(session, tool)
        invocation = Invocation(tool, arguments)
        task = asyncio.create_task(self.offers[scope][0].run(invocation, speculative=True))
        self._jobs[scope, invocation.key] = task
        return task

    def forget(self, session: str, tool: str, arguments: dict[str, Json]) -> None:
        """Discard a job."""
        key = Invocation(tool, arguments).key
        for scope in [scope for scope, asked in self._jobs if scope.endswith(f"/{session}") and asked == key]:
            self._jobs.pop((scope, key)).cancel()

    def void(self) -> None:
        """Discard every job."""
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            job.cancel()

    async def scope_offering(self, session: str, tool: str) -> str:
        """The scope of a session, once it offers the tool."""

        def found() -> str | None:
            return next(
                (s for s, (_, tools) in self.offers.items() if s.endswith(f"/{session}") and tool in tools), None
            )

        await self.until(lambda: found() is not None)
        scope = found()
        assert scope is not None
        return scope

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something noted makes the condition true."""
        async with asyncio.timeout(SOON), self._changed:
            await self._changed.wait_for(condition)

    def _tell(self) -> None:
        task = asyncio.get_running_loop().create_task(self._notify())
        self._told.add(task)
        task.add_done_callback(self._told.discard)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


@dataclass(slots=True)
class Served:
    """A running sidecar end."""

    gate: ScriptedGate
    runner: web.AppRunner
    port: int = 0
    url: str = field(init=False)

    def __post_init__(self) -> None:
        self.url = f"http://127.0.0.1:{self.port}"

    async def break_connections(self) -> None:
        """Break every connection; new ones are welcome."""
        assert self.runner.server is not None
        for connection in self.runner.server.connections:
            if connection.transport is not None:
                connection.transport.abort()

    async def kill(self) -> None:
        """Break every connection and stop listening."""
        await self.runner.cleanup()


@asynccontextmanager
async def served(port: int = 0, gate: ScriptedGate | None = None) -> AsyncIterator[Served]:
    """A sidecar end on a loopback port."""
    gate = gate or ScriptedGate()
    app = web.Application()
    add_dispatch_routes(app, Config(), gate)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield Served(gate, runner, runner.addresses[0][1])
    finally:
        await runner.cleanup()
