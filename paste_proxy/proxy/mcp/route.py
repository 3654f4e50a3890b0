"""`/mcp/NAME`: which server a request goes to, and what stands in front of each kind of server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol

from aiohttp import web

from paste_proxy.clock import Clock
from paste_proxy.config import Config
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.http.relay import Relay
from paste_proxy.proxy.mcp.bridge import McpBridge
from paste_proxy.proxy.mcp.children import McpChildren
from paste_proxy.proxy.mcp.client_arguments import ClientArguments
from paste_proxy.proxy.mcp.http import McpHttpFront
from paste_proxy.proxy.mcp.patience import Patience, note_answer
from paste_proxy.proxy.mcp.sessions import McpSessions
from paste_proxy.proxy.mcp.shared_process import SharedProcess
from paste_proxy.proxy.mcp.speculators import over_http, over_stdio
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.proxy.ports import ToolGate
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode

if TYPE_CHECKING:
    from paste_proxy.staging.stages import Stages

_PREFIX = "/mcp/"
NOTHING_AHEAD = Policy()


class McpFront(Protocol):
    """What stands in front of one server."""

    async def serve(self, request: web.Request, rest: str) -> web.StreamResponse:
        """Answer a request; `rest` is what follows the server's name in its target."""

    async def close(self) -> None:
        """All client sessions are over."""


class McpFronts:
    """The fronts of all configured servers."""

    def __init__(self, fronts: Mapping[str, McpFront]) -> None:
        self._fronts = dict(fronts)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer a request below `/mcp/`."""
        below = request.raw_path.removeprefix(_PREFIX)
        end = min((at for at in (below.find("/"), below.find("?")) if at >= 0), default=len(below))
        front = self._fronts.get(below[:end])
        if front is None:
            known = ", ".join(sorted(self._fronts)) or "(none)"
            return refusal(404, "no_server", f"no MCP server {below[:end]!r}; configured: {known}")
        return await front.serve(request, below[end:])

    async def close(self) -> None:
        """All client sessions are over, and the processes behind them."""
        await asyncio.gather(*(front.close() for front in self._fronts.values()))


def add_mcp_routes(
    app: web.Application,
    config: Config,
    gate: ToolGate,
    *,
    clock: Clock,
    fault: Callable[[str], None],
    policy: Policy = NOTHING_AHEAD,
    stages: "Stages | None" = None,
) -> None:
    """Serve `/mcp/NAME` for every configured server; their sessions end with the application.

    Args:
        fault: called with a place for every contained fault.
        policy: says of which servers something may be run ahead.
        stages: where commands of our own tools may be.
    """
    keep, named = config.limits.observed_request_bytes, "the server's `url`"
    proxies = {server.proxy for server in config.mcp.values()}
    relays = {proxy: Relay(keep=keep, named=named, proxy=proxy) for proxy in proxies}
    fronts = McpFronts(
        {
            name: _front(name, config, relays[server.proxy], gate, clock, fault, stages, lists=policy.lets(name))
            for name, server in config.mcp.items()
        }
    )
    app.router.add_route("*", "/mcp/{below:.*}", fronts.serve)

    async def living(_: web.Application) -> AsyncIterator[None]:
        yield
        await fronts.close()

    app.on_response_prepare.append(note_answer)
    app.cleanup_ctx.extend([*(relay.pooling for relay in relays.values()), living])


def _front(
    name: str,
    config: Config,
    relay: Relay,
    gate: ToolGate,
    clock: Clock,
    fault: Callable[[str], None],
    stages: "Stages | None",
    *,
    lists: bool,
) -> McpFront:
    server, limits = config.mcp[name], config.limits
    warm = config.speculation.mode is Mode.SPECULATE and bool(config.policies)

    client_arguments = ClientArguments(server.client_arguments)

    def watch(scope: str, target: str) -> McpWatch:
        if server.url is None:
            shared = SharedProcess(name, lambda: children)
            make = over_stdio(name, server, stages, opens=lists, shared=(shared,))
        else:
            make = over_http(name, server, relay.session, target, config.speculation.result_bytes, opens=lists)
        ahead = make if server.stateless else None
        return McpWatch(gate, name, scope, ahead, client_arguments, warm=warm, lists=lists)

    sessions = McpSessions(
        name, watch, clock, most=limits.sessions, idle_s=limits.session_idle_s, session_headers=config.session_headers
    )
    if server.url is None:
        children = McpChildren(
            name,
            server,
            idle_s=limits.session_idle_s,
            ended=partial(sessions.end, ""),
            stages=stages,
            failed=partial(relay.outages.warn, f"mcp {name}"),
        )
        return McpBridge(
            name,
            children,
            sessions,
            idle_call_s=server.idle_call_s,
            session_headers=config.session_headers,
            fault=fault,
        )
    return McpHttpFront(
        server.url,
        relay,
        sessions,
        Patience(relay, name, server.idle_call_s),
        session_headers=config.session_headers,
        request_bytes=limits.observed_request_bytes,
        answer_bytes=limits.observed_answer_bytes,
        fault=fault,
    )
