"""What one MCP client session shows of its tools and its calls, whatever carries the messages.

Fed with both directions; asks the gate about calls, tells it how they ended, and offers the session's
tools to be run speculatively once they are known.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol, TypeAlias

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.proxy.mcp.ids import id_key
from paste_proxy.proxy.ports import AgentCall, RunIt, ServeIt, ToolGate
from paste_proxy.tools.backend import Backend
from paste_proxy.tools.mcp_hello import Hello, protocol_meta
from paste_proxy.wire.jsonrpc import Request, Response, Single
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read, string
from paste_proxy.wire.mcp import (
    PROTOCOL_VERSION,
    Era,
    McpToolCall,
    era_of,
    tool_result,
)
from paste_proxy.wire.mcp_tools import ListedTool, listed_tools, next_cursor

APART = "#apart"
"""Suffix of the scope of calls that may not be served: nothing is ever offered under it."""

UNREAD = "(unread)"
"""Stands for the tool of a message that could not be read: unknown, so it counts as a write."""

_ROOTS_OPEN = 16


class Speculator(Backend, Protocol):
    """A backend that can get ready ahead of its first call."""

    def warm(self) -> None:
        """Get ready in the background. Raises nothing."""


MakeSpeculator: TypeAlias = Callable[[Callable[[], Hello], Callable[[], Mapping[str, ListedTool]]], Speculator]
"""Makes the backend for a session, given what its client says of itself and the tools it was told."""


class Exchange:
    """A request of the client that waits for its response; told its end once, later ends count nothing."""

    def __init__(self, id_raw: bytes, end: Callable[[Response | None], None]) -> None:
        self.id_raw = id_raw
        self._end: Callable[[Response | None], None] | None = end

    def over(self, response: Response | None) -> None:
        """The response came; None: it cannot come any more."""
        end, self._end = self._end, None
        if end is not None:
            end(response)


class McpWatch:
    """One client session with one server.

    Args:
        scope: the key of this connection.
        speculator: makes the session's backend; None where its tools may not be run speculatively.
        warm: whether the backend gets ready as soon as tools are known.
    """

    def __init__(
        self, gate: ToolGate, server: str, scope: str, speculator: MakeSpeculator | None, *, warm: bool = False
    ) -> None:
        self._gate, self._server, self.scope = gate, server, scope
        self._make, self._warm = speculator, warm
        self._backend: Speculator | None = None
        self._hello: Hello | None = None
        self._headers: tuple[tuple[str, str], ...] = ()
        self._tools: dict[str, ListedTool] = {}
        self._roots_open: set[bytes] = set()
        self._closing: asyncio.Task[None] | None = None
        self.session: str | None = None
        """The agent session that this connection's requests name, if they do."""
        self.content_type = ""
        """Content type of the latest live answer to a tool call, over HTTP."""

    def client_sent(self, message: Single, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """The client sent this; `headers` are its credentials and custom headers."""
        self._headers = headers or self._headers
        if isinstance(message, Response) and id_key(message.id_raw) in self._roots_open and self._hello is not None:
            self._roots_open.discard(id_key(message.id_raw))
            self._hello = replace(self._hello, roots=message.result_raw)

    def server_sent(self, message: Single) -> None:
        """The server sent this of its own accord."""
        if isinstance(message, Request) and message.method == "roots/list" and self._hello is not None:
            self._hello = replace(self._hello, asked_roots=True)
            if len(self._roots_open) < _ROOTS_OPEN:
                self._roots_open.add(id_key(message.id_raw))

    def begin(self, request: Request) -> Exchange | None:
        """Follow a request that is no tool call; None where nothing is to be learnt from its answer."""
        match request.method:
            case "initialize":
                return Exchange(request.id_raw, lambda response: self._introduced(request, response))
            case "tools/list":
                return Exchange(request.id_raw, lambda response: self._listed(request, response))
            case _:
                return None

    async def ask(self, call: McpToolCall, session: str | None = None, *, apart: bool = False) -> ServeIt | Exchange:
        """Ask about a tool call.

        Args:
            session: the agent session that the request names.
            apart: it has to be run, whatever there is.
        """
        apart = apart or not call.plain
        asked = AgentCall(
            invocation=Invocation(f"{self._server}/{call.name}", call.arguments),
            scope=self.scope + APART if apart else self.scope,
            session=session or call.session,
            call_id=call.call_id,
        )
        decision = await self._gate.ask(asked)
        if isinstance(decision, RunIt):
            return Exchange(call.id_raw, lambda response: self._gate.ended(decision.ticket, _outcome(response)))
        return Exchange(call.id_raw, lambda _: None) if apart else decision

    async def ask_unread(self) -> Exchange:
        """Tell the gate of a message that may hold any tool call but could not be read."""
        call = McpToolCall(id_raw=b"", name=UNREAD, arguments={}, era=Era.SESSION, plain=False)
        decision = await self.ask(call)
        assert isinstance(decision, Exchange)
        return decision

    def tool(self, name: str) -> ListedTool:
        """What the server said of a tool, defaults where it said nothing."""
        return self._tools.get(name) or ListedTool(name=name)

    def close(self) -> None:
        """The session is over."""
        self._gate.withdraw(self.scope)
        backend, self._backend = self._backend, None
        if backend is not None:
            self._closing = asyncio.create_task(backend.close())

    async def closed(self) -> None:
        """Wait until what `close` began is done."""
        if self._closing is not None:
            await asyncio.gather(self._closing, return_exceptions=True)

    def _introduced(self, request: Request, response: Response | None) -> None:
        if response is None or response.result_raw is None or request.params_raw is None:
            return
        version = string(read((members(response.result_raw) or {}).get("protocolVersion", b"")))
        self._hello = Hello(era=Era.SESSION, introduction=request.params_raw, version=version)

    def _listed(self, request: Request, response: Response | None) -> None:
        if response is None or response.result_raw is None:
            return
        if era_of(request.params_raw) is Era.STATELESS:
            meta = protocol_meta(request.params_raw)
            version = string(read((members(meta) or {}).get(PROTOCOL_VERSION, b"")))
            self._hello = Hello(era=Era.STATELESS, introduction=meta, version=version)
        first_page = "cursor" not in (members(request.params_raw or b"") or {})
        known = {} if first_page else self._tools
        self._tools = {**known, **{tool.name: tool for tool in listed_tools(response.result_raw)}}
        if next_cursor(response.result_raw) is None:
            self._offer()

    def _offer(self) -> None:
        names = [f"{self._server}/{tool.name}" for tool in self._tools.values() if not tool.task_required]
        if self._make is None or self._hello is None or not names:
            return
        if self._backend is None:
            self._backend = self._make(self._present, lambda: self._tools)
            if self._warm:
                self._backend.warm()
        self._gate.offer(self.scope, self._server, self._backend, names, session=self.session)

    def _present(self) -> Hello:
        assert self._hello is not None
        return replace(self._hello, headers=self._headers)


def _outcome(response: Response | None) -> ToolResult | None:
    if response is None:
        return None
    if response.error_raw is not None:
        return ToolResult(body=response.error_raw, status=Status.ERROR)
    return tool_result(response.result_raw or b"")
