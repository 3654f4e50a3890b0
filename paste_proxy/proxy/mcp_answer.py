"""Answers of the bridge to its HTTP clients: event streams, JSON texts and refusals."""

from collections.abc import Mapping

from aiohttp import web
from yarl import URL

from paste_proxy.proxy.mcp_stream import McpStream
from paste_proxy.wire.jsonrpc import refuse
from paste_proxy.wire.mcp import sse_message

_PING_S = 15.0
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNREADABLE, _NO_SESSION, _BAD_REQUEST = -32700, -32001, -32000


def accepts_events(request: web.Request) -> bool:
    """Whether the client reads event streams."""
    accept = request.headers.get("Accept", "*/*")
    return "text/event-stream" in accept or "*/*" in accept


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


async def stream_events(request: web.Request, stream: McpStream, headers: Mapping[str, str]) -> web.StreamResponse:
    """Send a stream's messages as events, with a comment when there is nothing to send for long."""
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", **headers}
    )
    await response.prepare(request)
    async for raw in stream.messages(_PING_S):
        await response.write(b": ping\r\n\r\n" if raw is None else sse_message(raw))
    await response.write_eof()
    return response


async def json_answer(stream: McpStream, headers: Mapping[str, str], *, batch: bool) -> web.Response:
    """A stream's messages as one JSON text, once they are all there."""
    parts = [raw async for raw in stream.messages(_PING_S) if raw is not None]
    body = b"[" + b",".join(parts) + b"]" if batch else b"".join(parts)
    return web.Response(body=body, headers={"Content-Type": "application/json", **headers})


def _refused(status: int, code: int, message: str) -> web.Response:
    return web.Response(status=status, body=refuse(b"null", code, message), content_type="application/json")
