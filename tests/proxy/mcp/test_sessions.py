"""The client sessions of an MCP server: none is over before what it started is."""

import asyncio

from paste_proxy.clock import FakeClock
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.mcp.sessions import McpSessions
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.testing import FakeGate


class SlowToClose:
    """A backend whose process takes its time to end."""

    def __init__(self, may_end: asyncio.Event) -> None:
        self.may_end = may_end
        self.ended = False

    def warm(self) -> None:
        return

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise AssertionError(invocation)

    async def close(self) -> None:
        await self.may_end.wait()
        self.ended = True


async def test_closing_waits_for_the_sessions_that_ended_before() -> None:
    may_end = asyncio.Event()
    backend = SlowToClose(may_end)

    def make(scope: str, target: str) -> McpWatch:
        watch = McpWatch(FakeGate(), "fs", scope, None)
        watch._backend = backend
        return watch

    sessions = McpSessions("fs", make, FakeClock(), most=10, idle_s=100)
    sessions.watch("", "session-1", ())
    sessions.end("", "session-1")
    closing = asyncio.create_task(sessions.close())
    await asyncio.sleep(0)
    assert not closing.done()
    may_end.set()
    await asyncio.wait_for(closing, 10)
    assert backend.ended
