"""In front of a stdio MCP server: streamable HTTP on the client's side, one child process per client session.

Clients of the stateless era have no sessions: they share one child, their ids made unique on the way in
and put back on the way out. Otherwise only the framing of messages changes.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count

from aiohttp import web

from paste_proxy.errors import UpstreamFault
from paste_proxy.proxy.mcp import answer as mcp_answer
from paste_proxy.proxy.mcp.children import LiveProcess, McpChildren
from paste_proxy.proxy.mcp.exchange import Exchange, TakenBack
from paste_proxy.proxy.mcp.modern import contradiction, status_of
from paste_proxy.proxy.mcp.process import Waiting
from paste_proxy.proxy.mcp.renumber import progress_token, put_back, renumbered
from paste_proxy.proxy.mcp.served import Form, never_answered, served
from paste_proxy.proxy.mcp.sessions import SESSION_ID, McpSessions, own_headers
from paste_proxy.proxy.mcp.silence import NO_ANSWER, Silence, no_answer, taking_back
from paste_proxy.proxy.mcp.stream import McpStream
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.proxy.ports import ServeIt
from paste_proxy.wire.jsonrpc import Batch, Notification, Request, RpcMessage, Unreadable, read_message, refuse
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.mcp import Era, era_of, tool_call


class McpBridge:
    """One server behind `/mcp/NAME`.

    Args:
        server: its name, for people.
        children: the server's processes.
        sessions: the watches of clients, by session or by headers.
        idle_call_s: see `Silence`.
        session_headers: request headers that may name the agent session.
        fault: called with a place for every contained fault.
    """

    def __init__(
        self,
        server: str,
        children: McpChildren,
        sessions: McpSessions,
        *,
        idle_call_s: float,
        session_headers: Iterable[str],
        fault: Callable[[str], None],
    ) -> None:
        self._server, self._idle_call_s = server, idle_call_s
        self._children, self._sessions, self._fault = children, sessions, fault
        self._giving_up: set[asyncio.Task[None]] = set()
        self._session_headers = tuple(session_headers)
        self._numbers = count(1)

    async def serve(self, request: web.Request, rest: str) -> web.StreamResponse:
        """Answer a request; `rest` has no meaning here."""
        if mcp_answer.foreign(request):
            return mcp_answer.not_for_pages()
        session_id = request.headers.get(SESSION_ID)
        match request.method:
            case "POST":
                return await self._post(request, session_id)
            case "GET" | "DELETE" if session_id is not None:
                live = self._children.find(session_id)
                if live is None:
                    return mcp_answer.no_session()
                return await (self._listen(request, live) if request.method == "GET" else self._end(session_id))
            case _:
                return mcp_answer.not_allowed()

    async def close(self) -> None:
        """All client sessions and their processes are over."""
        await self._sessions.close()
        await self._children.close()
        await asyncio.gather(*self._giving_up, return_exceptions=True)

    async def _post(self, request: web.Request, session_id: str | None) -> web.StreamResponse:
        body = await request.read()
        message = read_message(body)
        if isinstance(message, Unreadable):
            return mcp_answer.unreadable()
        try:
            if isinstance(message, Request) and era_of(message.params_raw) is Era.STATELESS:
                return await self._stateless(request, body, message)
            if isinstance(message, Notification) and era_of(message.params_raw) is Era.STATELESS:
                # Over HTTP this era has none from clients, and none may reach a process that others share.
                return web.Response(status=202)
            if _opens(message):
                return await self._open(request, body, message)
            if session_id is not None:
                live = self._children.find(session_id)
                if live is None:
                    return mcp_answer.no_session()
                return await self._exchange(request, live, body, message)
        except UpstreamFault as fault:
            id_raw = message.id_raw if isinstance(message, Request) else b"null"
            return web.Response(body=refuse(id_raw, NO_ANSWER, str(fault)), content_type="application/json")
        return mcp_answer.session_needed()

    async def _open(self, request: web.Request, body: bytes, message: RpcMessage) -> web.StreamResponse:
        """A new session; one whose client left before it was answered can never be used."""
        live = await self._children.open()
        answered = False
        try:
            answer = await self._exchange(request, live, body, message)
            answered = True
            return answer
        finally:
            if not answered:
                self._children.abandon(live.id)

    async def _exchange(
        self, request: web.Request, live: LiveProcess, body: bytes, message: RpcMessage
    ) -> web.StreamResponse:
        batch = isinstance(message, Batch)
        singles = message.messages if isinstance(message, Batch) else (message,)
        asked = [single for single in singles if isinstance(single, Request)]
        headers = own_headers(request.raw_headers)
        watch = self._sessions.watch("", live.id, headers)
        live.watches.add(watch)
        stream = McpStream([single.id_raw for single in asked], progress=Form.EVENTS.accepted(request))
        for single in singles:
            watch.client_sent(single, headers)
            if isinstance(single, Notification) and single.method == "notifications/cancelled":
                live.process.cancelled((members(single.params_raw or b"") or {}).get("requestId", b""))
        for single in asked:
            decision = await self._ask(request, watch, single, apart=batch, revocable=not batch)
            if isinstance(decision, web.Response):
                return decision
            live.process.expect(single.id_raw, Waiting(stream, decision, progress_token(single)))
        try:
            await live.process.send(body)
        except UpstreamFault:
            for single in asked:
                live.process.forget(single.id_raw)
            raise
        if not asked:
            return web.Response(status=202)
        self._watch_silence(live, stream, [single.id_raw for single in asked if single.method == "tools/call"])
        return await _answer(request, stream, {SESSION_ID: live.id}, batch=batch)

    async def _stateless(self, request: web.Request, body: bytes, message: Request) -> web.StreamResponse:
        live = await self._children.shared()
        watch = self._sessions.watch("", None, own_headers(request.raw_headers))
        live.watches.add(watch)
        call = tool_call(message)
        if refused := contradiction(request, message, watch.tool(call.name) if call else None):
            return refused
        decision = await self._ask(request, watch, message)
        if isinstance(decision, web.Response):
            return decision
        number, token = b"%d" % next(self._numbers), progress_token(message)
        stream = McpStream(
            [number],
            progress=Form.EVENTS.accepted(request),
            restore=lambda raw: put_back(raw, number, message.id_raw, token),
        )
        live.process.expect(number, Waiting(stream, decision, None if token is None else number))
        try:
            await live.process.send(renumbered(body, number))
            self._watch_silence(live, stream, [number] if call else [])
            return await _answer(request, stream, {}, batch=False, status_of=status_of)
        finally:
            if live.process.forget(number):
                # In this era closing the stream takes the request back.
                with suppress(UpstreamFault):
                    await live.process.send(taking_back(number))

    async def _ask(
        self,
        request: web.Request,
        watch: McpWatch,
        message: Request,
        *,
        apart: bool = False,
        revocable: bool = False,
    ) -> Exchange | web.Response | None:
        """What follows the request to its end, or its answer. A fault here only ends the learning."""
        try:
            call = tool_call(message)
            if call is None:
                return watch.begin(message) if message.method != "tools/call" else await watch.ask_unread()
            session = next((request.headers[name] for name in self._session_headers if name in request.headers), None)
            asked = await watch.ask(call, session, apart=apart, revocable=revocable)
        except Exception:  # noqa: BLE001 - whatever breaks here, the request goes on
            self._fault("mcp")
            return None
        match asked:
            case Exchange():
                return asked
            case TakenBack():
                return never_answered(request, call)
            case ServeIt(result=result):
                return served(request, call, result, "")

    def _watch_silence(self, live: LiveProcess, stream: McpStream, calls: list[bytes]) -> None:
        """Have these calls end when nothing comes for too long."""

        def over() -> None:
            if stream.unread:
                silence.heard()
                return
            task = asyncio.create_task(self._give_up(live, stream, calls))
            self._giving_up.add(task)
            task.add_done_callback(self._giving_up.discard)

        if calls and self._idle_call_s:
            stream.silence = silence = Silence(self._idle_call_s, over)

    async def _give_up(self, live: LiveProcess, stream: McpStream, calls: list[bytes]) -> None:
        for id_raw in calls:
            if live.process.forget(id_raw):
                await stream.put(no_answer(id_raw, self._server, self._idle_call_s), id_raw)
                with suppress(UpstreamFault):
                    await live.process.send(taking_back(id_raw))

    async def _listen(self, request: web.Request, live: LiveProcess) -> web.StreamResponse:
        stream = await live.process.listen()
        try:
            return await mcp_answer.stream_events(request, stream, {SESSION_ID: live.id})
        finally:
            live.process.unlisten(stream)
            self._children.left(live.id)

    async def _end(self, session_id: str) -> web.Response:
        self._sessions.end("", session_id)
        await self._children.end(session_id)
        return web.Response(status=200)


async def _answer(
    request: web.Request,
    stream: McpStream,
    headers: dict[str, str],
    *,
    batch: bool,
    status_of: Callable[[bytes], int] = lambda _: 200,
) -> web.StreamResponse:
    try:
        return await mcp_answer.one_or_more(request, stream, headers, batch=batch, status_of=status_of)
    finally:
        stream.close()


def _opens(message: RpcMessage) -> bool:
    return isinstance(message, Request) and message.method == "initialize"
