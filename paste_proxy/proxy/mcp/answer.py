"""Answers of the bridge to its HTTP clients: event streams, JSON texts and refusals."""

from collections.abc import Callable, Mapping

from aiohttp import web
from yarl import URL

from paste_proxy.proxy.mcp.served import Form
from paste_proxy.proxy.mcp.stream import McpStream, Sent
from paste_proxy.wire.jsonrpc import refuse
from paste_proxy.wire.mcp import sse_message

_PING_S = 15.0
_PATIENCE_S = 5.0
"""After this long an answer begins, whatever is to come, so that nobody takes it for dead."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNREADABLE, _NO_SESSION, _BAD_REQUEST = -32700, -32001, -32000


def foreign(request: web.Request) -> bool:
    """Whether a web page from elsewhere sent this: a server on this machine is not for it (DNS rebinding)."""
    origin = request.headers.get("Origin")
    return origin is not None and URL(origin).host not in _LOOPBACK


def unreadable() -> web.Response:
    """The body is no JSON-RPC message."""
    return _refused(400, _UNREADABLE, "Parse error: the body is not a JSON-RPC message")


def no_session() -> web.Response:
    """The session is over or never was: the client has to open a new one."""
    return _refused(404, _NO_SESSION, "Session not found: send initialize again, without Mcp-Session-Id")


def session_needed() -> web.Response:
    """A request of the session era names no session."""
    return _refused(400, _BAD_REQUEST, "Bad Request: no Mcp-Session-Id; send initialize first")


def not_for_pages() -> web.Response:
    """See `foreign`."""
    return _refused(403, _BAD_REQUEST, "Forbidden: the Origin is not on this machine")


def not_allowed() -> web.Response:
    """There is nothing here for this method."""
    return web.Response(status=405, headers={"Allow": "GET, POST, DELETE"})


async def one_or_more(
    request: web.Request,
    stream: McpStream,
    headers: Mapping[str, str],
    *,
    batch: bool = False,
    status_of: Callable[[bytes], int] = lambda _: 200,
) -> web.StreamResponse:
    """The answer to requests: JSON if all that comes is one response, and comes soon; else an event stream.

    JSON, where the client reads it, may have any size; some clients read no event of more than 1 MiB.

    Args:
        status_of: the status that goes with one response as JSON.
    """
    if not Form.EVENTS.accepted(request):
        return await _json(stream, headers, batch=batch, status_of=status_of)
    first = await stream.get(_PATIENCE_S)
    if first is not None and first.last and first.raw is not None and not batch and Form.JSON.accepted(request):
        headers = {"Content-Type": Form.JSON.value, **headers}
        return web.Response(status=status_of(first.raw), body=first.raw, headers=headers)
    return await stream_events(request, stream, headers, first)


async def stream_events(
    request: web.Request, stream: McpStream, headers: Mapping[str, str], first: Sent | None = None
) -> web.StreamResponse:
    """Send a stream's messages as events, with a comment when there is nothing to send for long."""
    response = web.StreamResponse(
        headers={"Content-Type": Form.EVENTS.value, "Cache-Control": "no-cache, no-transform", **headers}
    )
    await response.prepare(request)
    sent = first or await stream.get(_PING_S)
    while True:
        if sent is None:
            await response.write(b": ping\r\n\r\n")
        elif sent.raw is not None:
            await response.write(sse_message(sent.raw))
        if sent is not None and sent.last:
            await response.write_eof()
            return response
        sent = await stream.get(_PING_S)


async def _json(
    stream: McpStream, headers: Mapping[str, str], *, batch: bool, status_of: Callable[[bytes], int]
) -> web.Response:
    parts = []
    sent = None
    while sent is None or not sent.last:
        sent = await stream.get(_PING_S)
        if sent is not None and sent.raw is not None:
            parts.append(sent.raw)
    body = b"[" + b",".join(parts) + b"]" if batch else b"".join(parts)
    status = 200 if batch else status_of(body)
    return web.Response(status=status, body=body, headers={"Content-Type": Form.JSON.value, **headers})


def _refused(status: int, code: int, message: str) -> web.Response:
    return web.Response(status=status, body=refuse(b"null", code, message), content_type="application/json")
