"""Dispatch of one tool call over HTTP, and where both dispatch routes join the app.

An answer that was run ahead and one that was not differ in the header `x-paste-outcome` and in nothing else.
"""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus

import aiohttp
from aiohttp import web

from paste_proxy.agents.protocol import PATH
from paste_proxy.config import Config
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation, read_arguments
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.proxy.dispatch.origin import foreign_origin
from paste_proxy.proxy.dispatch.socket import DispatchSocket
from paste_proxy.proxy.dispatch.tools import ConfiguredTools, configured_tools
from paste_proxy.proxy.http.opting_out import opts_out
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.outages import Outages
from paste_proxy.proxy.ports import AgentCall, RunIt, ServeIt, ToolGate
from paste_proxy.tools.connections import Connections

CALL_ID_HEADER = "x-paste-call-id"
OUTCOME_HEADER = "x-paste-outcome"
READY_HEADER = "x-paste-only-ready"
"""Asks for a result that was run ahead, or is being; where there is none, 204 and nothing is run."""
ALONE = "alone"
"""Its value where that is of use only to a call that is its turn's only one."""
_ALIVE_EVERY_S = 0.1
"""How often a waiting call looks whether its client is still there."""


def add_dispatch_routes(app: web.Application, config: Config, gate: ToolGate) -> None:
    """Add `POST /paste/v1/sessions/{sid}/tools/{tool}` and the SDK's WebSocket to an app."""
    dispatch = Dispatch(tuple(config.tools), gate)
    socket = DispatchSocket(gate)

    async def lifetime(_: web.Application) -> AsyncIterator[None]:
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=Connections(), trust_env=False, timeout=timeout) as session:
            backend = configured_tools(config, session)
            dispatch.backend = backend
            if config.tools:
                gate.offer("", "", backend, config.tools)
            yield
            await backend.close()

    async def say_goodbye(_: web.Application) -> None:
        await socket.close()

    app.cleanup_ctx.append(lifetime)
    app.on_shutdown.append(say_goodbye)  # an open WebSocket would hold up the shutdown
    app.router.add_post("/paste/v1/sessions/{sid}/tools/{tool:.+}", dispatch.answer)
    app.router.add_get(PATH, socket.serve)


class Dispatch:
    """The handler of one-call dispatch."""

    def __init__(self, tools: tuple[str, ...], gate: ToolGate) -> None:
        self._tools, self._gate = tools, gate
        self.backend = ConfiguredTools({})
        self._outages = Outages()

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one call."""
        tool = request.match_info["tool"]
        if why := foreign_origin(request):
            return refusal(HTTPStatus.FORBIDDEN, "foreign_origin", why)
        if tool not in self._tools:
            return refusal(HTTPStatus.NOT_FOUND, "no_tool", self._no_tool(tool))
        body = await request.read()
        try:
            invocation = Invocation(tool, read_arguments(body))
        except ValueError as fault:
            return refusal(
                HTTPStatus.BAD_REQUEST,
                "no_arguments",
                f"the body of a call of {tool!r} is its arguments, one JSON object; found {_glimpse(body)} ({fault})",
            )
        call_id = request.headers.get(CALL_ID_HEADER)
        alone = request.headers.get(READY_HEADER) == ALONE
        ahead = not opts_out(request.headers.items())
        call = AgentCall(
            invocation=invocation, session=request.match_info["sid"], call_id=call_id, alone=alone, ahead=ahead
        )
        return await self._while_connected(request, call)

    def _no_tool(self, tool: str) -> str:
        names = ", ".join(sorted(self._tools)) or "none"
        server, slash, _ = tool.partition("/")
        if slash:
            return (
                f"{tool!r} is the name of an MCP server's tool, and here are those configured under [tools] ({names}); "
                f"send its call as MCP to /mcp/{server}"
            )
        return f"no tool {tool!r} is configured; configured under [tools]: {names}"

    async def _while_connected(self, request: web.Request, call: AgentCall) -> web.Response:
        answer = asyncio.create_task(self._answer(call, only_ready=READY_HEADER in request.headers))
        watch = asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait((answer, watch), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ConnectionResetError("the client of a tool call disconnected")
            return answer.result()
        finally:
            answer.cancel()
            watch.cancel()
            await asyncio.gather(answer, watch, return_exceptions=True)

    async def _answer(self, call: AgentCall, *, only_ready: bool) -> web.Response:
        match await self._gate.ask(call):
            case ServeIt(result=result, outcome=outcome):
                return _response(result, outcome.value)
            case RunIt(ticket=ticket) if only_ready:
                self._gate.ended(ticket, None)
                return web.Response(status=HTTPStatus.NO_CONTENT)
            case RunIt(ticket=ticket):
                return await self._run(call.invocation, ticket)

    async def _run(self, invocation: Invocation, ticket: int) -> web.Response:
        result: ToolResult | None = None
        try:
            result = await self.backend.run(invocation, speculative=False)
        except UpstreamFault as fault:
            self._outages.warn(f"tool {invocation.tool}", "cannot be reached, broke off or was late")
            return refusal(HTTPStatus.BAD_GATEWAY, "tool_unreachable", str(fault))
        finally:
            self._gate.ended(ticket, result)
        return _response(result, "run")


def _response(result: ToolResult, outcome: str) -> web.Response:
    status = result.http_status
    if result.status is Status.ERROR and status < HTTPStatus.BAD_REQUEST:
        status = HTTPStatus.INTERNAL_SERVER_ERROR  # a program that failed has no HTTP status of its own
    headers = {"content-type": result.content_type, OUTCOME_HEADER: outcome}
    return web.Response(body=result.body, status=status, headers=headers)


def _glimpse(body: bytes) -> str:
    text = body[:60].decode("utf-8", "replace")
    return repr(text + "..." if len(body) > len(text.encode()) else text)


async def _disconnected(request: web.Request) -> None:
    """Return when the client is gone. aiohttp tells a handler of it only by writing, so this looks."""
    while (transport := request.transport) is not None and not transport.is_closing():  # noqa: ASYNC110
        await asyncio.sleep(_ALIVE_EVERY_S)
