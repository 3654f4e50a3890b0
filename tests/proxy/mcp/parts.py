"""Servers and sidecars that the MCP tests share."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, Limits, McpServer
from paste_proxy.proxy.http.relay import shed_own_headers
from paste_proxy.proxy.mcp.route import NOTHING_AHEAD, add_mcp_routes
from paste_proxy.proxy.ports import ToolGate
from paste_proxy.speculation.policy import Policy


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
    policy: Policy = NOTHING_AHEAD,
) -> AsyncIterator[str]:
    """A sidecar with these MCP servers; its base URL. A contained fault fails the test unless `faults` takes it."""
    noted: list[str] = [] if faults is None else faults
    config = Config(mcp=servers, limits=limits or Limits(), session_headers=("x-paste-session",))
    async with AsyncExitStack() as stack:
        app = web.Application(client_max_size=0)
        app.on_response_prepare.append(shed_own_headers)
        add_mcp_routes(app, config, gate, clock=SystemClock(), fault=noted.append, policy=policy)
        yield await listen(stack, app)
    if faults is None:
        assert not noted


async def until(holds: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until something holds, at most so many seconds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)
