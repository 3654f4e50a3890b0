"""Runs the tools of one MCP server in a session of its own, never in the agent's.

The session introduces itself as the live client does, is opened at the first use or warm-up, closed
when idle, and made anew once when the server has forgotten it. A server that asks its client for
something we cannot answer just as the client would is not imitated: the call fails, and is never reused.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TypeAlias, TypeVar

from paste_proxy.errors import PasteError, UpstreamFault
from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import loads
from paste_proxy.tools.backend import Preparable
from paste_proxy.tools.mcp_ahead import SessionAhead
from paste_proxy.tools.mcp_hello import OUR_NAME, Hello, call, listing, opening
from paste_proxy.tools.mcp_link import Answerer, Link, SessionGone
from paste_proxy.wire.jsonrpc import Request, Response, refuse, respond
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.mcp import Era, tool_result
from paste_proxy.wire.mcp_client import Dialect
from paste_proxy.wire.mcp_tools import ListedTool, listed_tools, next_cursor

Connect: TypeAlias = Callable[[Answerer], Awaitable[Link]]
"""Opens what carries the messages of a new session."""

_Had = TypeVar("_Had")
_METHOD_NOT_FOUND = -32601
_PAGES = 100
"""Of a list of tools; one that is longer may have no end."""
_ASKS_ROOTS_S = 3.0
"""A server that asked the live client for its roots before the first call has this long to ask here, too."""
_SETTLE_S = 0.25
"""What it then does with them is not announced; it has this long for that."""


class McpClient:
    """A `Backend` for the tools of one server.

    Args:
        connect: opens a link to the server.
        hello: how the live client presents itself at the moment.
        tools: the server's tools by bare name, as listed last.
        idle_s: seconds without a call after which the session is closed.
        marked: whether a speculative call says that it is one, in its `_meta`.
        opens: whether the session may be opened for a call that is not run ahead yet.
        needs: what the agent's own calls need; `shared` those of a client without sessions.
    """

    def __init__(
        self,
        server: str,
        connect: Connect,
        hello: Callable[[], Hello],
        tools: Callable[[], Mapping[str, ListedTool]],
        *,
        idle_s: float = 600.0,
        marked: bool = False,
        opens: bool = False,
        needs: Iterable[Preparable] = (),
        shared: Iterable[Preparable] = (),
    ) -> None:
        self._server, self._connect, self._hello, self._tools = server, connect, hello, tools
        self._idle_s, self._marked = idle_s, marked
        own = (SessionAhead(server, self),) if opens else ()
        self._needs = {Era.SESSION: (*needs, *own), Era.STATELESS: (*needs, *shared, *own)}
        self._ids = count(1)
        self._opening = asyncio.Lock()
        self._session: tuple[Link, Dialect] | None = None
        self._running = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._unanswered = 0
        self._told_roots: bytes | None = None
        self._roots_given = asyncio.Event()
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        """The tool's answer; its `body` is the raw `result`."""
        tool = self._tools().get(name_of(invocation.tool))
        if tool is None:
            raise UpstreamFault(f"MCP server {self._server!r} lists no tool {name_of(invocation.tool)!r}")
        marked = self._marked and speculative
        return await self._in_session(lambda link, dialect: self._call(link, dialect, tool, invocation, marked=marked))

    async def list_tools(self) -> tuple[ListedTool, ...]:
        """All tools that the server lists for this session.

        Raises:
            UpstreamFault: the list cannot be had.
        """
        return await self._in_session(self._list)

    @property
    def connected(self) -> bool:
        """Whether the session is open and as the live client would have it."""
        hello = self._hello()
        return self._session is not None and hello.roots == self._told_roots and not self._deaf(hello)

    async def connect(self) -> None:
        """Wait until the session is open or cannot be; see `Connecting`."""
        await asyncio.shield(self._background(self._warm()))

    def needs(self, invocation: Invocation) -> Iterable[Preparable]:
        """What a call needs; see `Preparing`."""
        return self._needs[self._hello().era]

    def warm(self) -> None:
        """Open the session ahead of the first call; a failure shows at that call."""
        self._background(self._warm())

    async def close(self) -> None:
        """End the session and what carries it. Safe to call twice."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._drop()

    async def retire(self) -> None:
        """Close once no call is under way."""
        await self._quiet.wait()
        await self.close()

    async def _in_session(self, use: Callable[[Link, Dialect], Awaitable[_Had]]) -> _Had:
        """What `use` makes of the session, and again of a new one if the server has forgotten it."""
        self._running += 1
        self._quiet.clear()
        try:
            link, dialect = await self._ready()
            try:
                return await use(link, dialect)
            except SessionGone:
                await self._drop(link)
                return await use(*await self._ready())
        finally:
            self._running -= 1
            if not self._running:
                self._quiet.set()
            self._rest()

    async def _list(self, link: Link, dialect: Dialect) -> tuple[ListedTool, ...]:
        tools: list[ListedTool] = []
        cursor = None
        for _ in range(_PAGES):
            number = next(self._ids)
            response = await link.request(listing(self._hello(), dialect, number, cursor), number)
            if response.result_raw is None:
                break
            tools += listed_tools(response.result_raw)
            cursor = next_cursor(response.result_raw)
            if cursor is None:
                return tuple(tools)
        raise UpstreamFault(f"MCP server {self._server!r} does not list its tools")

    async def _call(
        self, link: Link, dialect: Dialect, tool: ListedTool, invocation: Invocation, *, marked: bool
    ) -> ToolResult:
        unanswered, number = self._unanswered, next(self._ids)
        message = call(self._hello(), dialect, number, tool, invocation.arguments, marked=marked)
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            response = await link.request(message, number)
        except asyncio.CancelledError:
            if not (link.closing_cancels and dialect.era is Era.STATELESS):
                self._background(_take_back(link, dialect, number))
            raise
        if self._unanswered != unanswered:
            raise UpstreamFault(f"{invocation.tool}: the server asked its client for something only the agent has")
        return replace(_result(invocation.tool, response), took_s=loop.time() - began)

    async def _ready(self) -> tuple[Link, Dialect]:
        async with self._opening:
            if self._closed:
                raise UpstreamFault(f"the speculative session with {self._server!r} is closed")
            hello = self._hello()
            if self._session is not None and (hello.roots != self._told_roots or self._deaf(hello)):
                await self._drop()
            if self._session is None:
                self._told_roots = hello.roots
                self._session = await self._open(hello)
            if hello.asked_roots and (hello.roots is None or self._deaf(hello)):
                raise UpstreamFault(f"MCP server {self._server!r} asks its client for roots, which are not known here")
            return self._session

    def _deaf(self, hello: Hello) -> bool:
        """Whether the server may ask for roots where nobody hears it."""
        return hello.asked_roots and self._session is not None and not self._session[0].hears_requests

    async def _open(self, hello: Hello) -> tuple[Link, Dialect]:
        self._roots_given.clear()
        link = await self._connect(self._answer)
        if hello.era is Era.STATELESS:
            return link, await self._up(link, hello)
        try:
            number = next(self._ids)
            opened = await link.request(opening(hello, number), number)
            version = _agreed_version(self._server, opened)
            dialect = Dialect(era=Era.SESSION, version=version, client=OUR_NAME, session_id=link.session_id)
            if hello.asked_roots:
                await link.listen(dialect.listen())
            await link.notify(dialect.initialized())
            if hello.asked_at_opening and hello.roots is not None:
                await self._give_roots()
        except BaseException:
            await link.close()
            raise
        return link, dialect

    async def _up(self, link: Link, hello: Hello) -> Dialect:
        """Without a handshake, a server of our own is up when it has answered something."""
        dialect = Dialect(era=Era.STATELESS, version=hello.version, client=OUR_NAME)
        try:
            if link.own_server:
                number = next(self._ids)
                await link.request(listing(hello, dialect, number, None), number)
        except BaseException:
            await link.close()
            raise
        return dialect

    async def _give_roots(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_ASKS_ROOTS_S):
                await self._roots_given.wait()
        await asyncio.sleep(_SETTLE_S)

    def _answer(self, asked: Request) -> bytes:
        """What the live client would answer, as far as we can know it."""
        roots = self._hello().roots
        if asked.method == "ping":
            return respond(asked.id_raw, b"{}")
        if asked.method == "roots/list" and roots is not None:
            self._roots_given.set()
            return respond(asked.id_raw, roots)
        self._unanswered += 1
        return refuse(asked.id_raw, _METHOD_NOT_FOUND, f"{asked.method} is not available in this session")

    async def _drop(self, link: Link | None = None) -> None:
        """Close the session; if `link` is given, only the one that it carries."""
        if self._session is None or (link is not None and self._session[0] is not link):
            return
        session, self._session = self._session, None
        await session[0].close()

    async def _warm(self) -> None:
        with suppress(PasteError):
            await self._ready()
        self._rest()

    def _rest(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if not self._running and not self._closed:
            self._idle = asyncio.get_running_loop().call_later(self._idle_s, self._sleep)

    def _sleep(self) -> None:
        if not self._running:
            self._background(self._drop())

    def _background(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _take_back(link: Link, dialect: Dialect, number: int) -> None:
    with suppress(UpstreamFault):
        await link.notify(dialect.cancelled(number, "not needed any more"))


def _agreed_version(server: str, opened: Response) -> str:
    result = members(opened.result_raw or b"") or {}
    version = loads(result["protocolVersion"]) if "protocolVersion" in result else None
    if not isinstance(version, str):
        raise UpstreamFault(f"MCP server {server!r} refused a second session: {opened.error_raw!r}")
    return version


def _result(tool: str, response: Response) -> ToolResult:
    result = tool_result(response.result_raw or b"")
    if result is None:
        raise UpstreamFault(f"{tool}: no final result, {(response.error_raw or b'')[:200]!r}")
    return result
