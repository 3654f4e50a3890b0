"""The client sessions of an MCP server: none is over before what it started is."""

import asyncio

from paste_proxy.clock import FakeClock
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.mcp.sessions import McpSessions
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.testing import FakeGate
from paste_proxy.wire.jsonrpc import Request, Response
from paste_proxy.wire.mcp_tools import ListedTool


class SlowToClose:
    """A backend whose process takes its time to end."""

    def __init__(self, may_end: asyncio.Event) -> None:
        self.may_end = may_end
        self.ended = False

    def warm(self) -> None:
        return

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise AssertionError(invocation)

    async def list_tools(self) -> tuple[ListedTool, ...]:
        raise AssertionError

    async def retire(self) -> None:
        await self.close()

    async def close(self) -> None:
        await self.may_end.wait()
        self.ended = True


async def test_closing_waits_for_the_sessions_that_ended_before() -> None:
    may_end = asyncio.Event()
    backend = SlowToClose(may_end)

    def make(scope: str, target: str) -> McpWatch:
        watch = McpWatch(FakeGate(), "fs", scope, lambda hello, tools: backend)
        for request, result in (
            (Request(b"1", "initialize", b"{}"), b"{}"),
            (Request(b"2", "tools/list", b"{}"), b'{"tools":[{"name":"look"}]}'),
        ):
            exchange = watch.begin(request)
            assert exchange is not None
            exchange.over(Response(request.id_raw, result, None))
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
