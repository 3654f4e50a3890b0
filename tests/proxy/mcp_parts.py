"""Servers and sidecars that the MCP tests share."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Limits, McpServer
from paste_proxy.proxy.mcp_route import add_mcp_routes
from paste_proxy.proxy.ports import ToolGate
from paste_proxy.proxy.relay import Relay, shed_own_headers
from paste_proxy.testing import FakeGate


async def listen(stack: AsyncExitStack, app: web.Application) -> str:
    """Serve an app on a free port of the loopback; its base URL."""
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    return f"http://{host}:{port}"


@asynccontextmanager
async def sidecar(
    gate: ToolGate,
    servers: dict[str, McpServer],
    *,
    limits: Limits | None = None,
    faults: list[str] | None = None,
    warm: bool = False,
) -> AsyncIterator[str]:
    """A sidecar with these MCP servers; its base URL. A contained fault fails the test unless `faults` takes it."""
    limits = limits or Limits()
    noted: list[str] = [] if faults is None else faults
    async with AsyncExitStack() as stack:
        relay = Relay(keep=limits.observed_request_bytes)
        app = web.Application(client_max_size=0)
        app.cleanup_ctx.append(relay.pooling)
        app.on_response_prepare.append(shed_own_headers)
        add_mcp_routes(
            app,
            servers,
            relay,
            gate,
            SystemClock(),
            limits,
            session_headers=("x-paste-session",),
            warm=warm,
            fault=noted.append,
        )
        yield await listen(stack, app)
    if faults is None:
        assert not noted


async def until(holds: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until something holds, at most so many seconds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)


def calls(gate: FakeGate) -> list[tuple[str, str]]:
    """The tools asked about and the scopes they were asked in."""
    return [(call.invocation.tool, call.scope) for call in gate.asked]
