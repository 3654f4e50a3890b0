"""In front of an MCP server that speaks streamable HTTP: transparent, but `tools/call` is asked about.

Requests and answers are forwarded as bytes by the relay. What this learns comes from copies, and a
fault in learning only ends the learning.
"""

from collections.abc import Callable, Iterable, Mapping

from aiohttp import web

from paste_proxy.proxy.http.relay import Relay
from paste_proxy.proxy.mcp.exchange import Exchange, TakenBack
from paste_proxy.proxy.mcp.patience import Heard, Patience
from paste_proxy.proxy.mcp.served import headers_agree, never_answered, served
from paste_proxy.proxy.mcp.sessions import SESSION_ID, McpSessions, own_headers
from paste_proxy.proxy.mcp.tap import McpTap
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.proxy.ports import ServeIt
from paste_proxy.wire.jsonrpc import Batch, Request, Single, Unreadable, read_message
from paste_proxy.wire.mcp import Era, era_of, tool_call

_LONG_STREAM_BYTES = 2**40
"""A session's GET stream, or a subscription, may run for days; its messages are bounded one by one."""


class McpHttpFront:
    """One server behind `/mcp/NAME`.

    Args:
        url: the server's endpoint.
        patience: ends calls that stay unanswered.
        session_headers: request headers that may name the agent session.
        request_bytes: how much of a request is read before it is forwarded.
        answer_bytes: the largest answer that is read.
        fault: called with a place for every contained fault.
    """

    def __init__(
        self,
        url: str,
        relay: Relay,
        sessions: McpSessions,
        patience: Patience,
        *,
        session_headers: Iterable[str],
        request_bytes: int,
        answer_bytes: int,
        fault: Callable[[str], None],
    ) -> None:
        self._url, self._relay, self._sessions, self._patience = url, relay, sessions, patience
        self._session_headers = tuple(session_headers)
        self._request_bytes, self._answer_bytes, self._fault = request_bytes, answer_bytes, fault

    async def serve(self, request: web.Request, rest: str) -> web.StreamResponse:
        """Answer a request; `rest` is what follows the server's name in its target."""
        target = self._target(rest)
        tap = McpTap(lambda status, headers: self._answered(request, target, tap, status, headers), self._answer_bytes)
        try:
            head = await self._head(request)
            ready = await self._consult(request, target, head, tap) if request.method == "POST" else None
            if ready is not None:
                return ready
            bound = _LONG_STREAM_BYTES if request.method == "GET" or tap.subscription else self._answer_bytes
            seen = Heard(tap, "mcp", target, request.headers, bound, self._fault)
            if tap.unanswered:
                return await self._patience.forward(request, target, seen, tap, head)
            return await self._relay.forward(request, target, seen, head=head)
        finally:
            tap.end()

    async def close(self) -> None:
        """All client sessions are over."""
        await self._sessions.close()
        await self._patience.close()

    async def _head(self, request: web.Request) -> bytes:
        """The whole body, or so much of a longer one that it is plain that it is longer."""
        head = bytearray()
        if request.method == "POST" and (request.content_length or 0) <= self._request_bytes:
            while len(head) <= self._request_bytes and (chunk := await request.content.readany()):
                head += chunk
        return bytes(head)

    async def _consult(self, request: web.Request, target: str, body: bytes, tap: McpTap) -> web.Response | None:
        """The answer to a request that need not be forwarded. A fault here only ends the learning."""
        try:
            message = read_message(body) if len(body) <= self._request_bytes else Unreadable("too long")
            headers = own_headers(request.raw_headers)
            tap.stateless = isinstance(message, Request) and era_of(message.params_raw) is Era.STATELESS
            tap.subscription = isinstance(message, Request) and message.method == "subscriptions/listen"
            watch = self._sessions.watch(target, _session(request, tap), headers)
            if isinstance(message, Batch):
                for single in message.messages:
                    watch.client_sent(single, headers)
                    await self._ask(request, watch, single, tap, apart=True)
                return None
            watch.client_sent(message, headers)
            return await self._ask(request, watch, message, tap)
        except Exception:  # noqa: BLE001 - whatever breaks here, the request goes on
            self._fault("mcp")
            return None

    async def _ask(
        self, request: web.Request, watch: McpWatch, message: Single, tap: McpTap, *, apart: bool = False
    ) -> web.Response | None:
        if isinstance(message, Unreadable):
            tap.follow(await watch.ask_unread())
        if not isinstance(message, Request):
            return None
        call = tool_call(message)
        if call is None:
            tap.follow(message if message.method != "tools/call" else await watch.ask_unread())
            return None
        session = next((request.headers[name] for name in self._session_headers if name in request.headers), None)
        asked = await watch.ask(
            call,
            session,
            apart=apart or not headers_agree(request, call, watch),
            revocable=not apart and not tap.stateless and SESSION_ID in request.headers,
        )
        match asked:
            case Exchange():
                tap.follow(asked)
                return None
            case TakenBack():
                return never_answered(request, call)
            case ServeIt(result=result):
                return served(request, call, result, watch.content_type)

    def _answered(
        self, request: web.Request, target: str, tap: McpTap, status: int, headers: Mapping[str, str]
    ) -> McpWatch:
        asked = _session(request, tap)
        watch = self._sessions.watch(target, asked or headers.get(SESSION_ID), own_headers(request.raw_headers))
        if asked is not None and (status == 404 or (request.method == "DELETE" and status < 300)):
            self._sessions.end(target, asked)
        if tap.has_calls and status == 200:
            watch.content_type = headers.get("Content-Type", "")
        return watch

    def _target(self, rest: str) -> str:
        path, _, query = rest.partition("?")
        base, _, base_query = self._url.partition("?")
        queries = "&".join(part for part in (base_query, query) if part)
        return base + path + ("?" + queries if queries else "")


def _session(request: web.Request, tap: McpTap) -> str | None:
    """The client session of a request; one of the stateless era has none, whatever its headers say."""
    return None if tap.stateless else request.headers.get(SESSION_ID)
