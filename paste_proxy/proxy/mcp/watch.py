"""What one MCP client session shows of its tools and its calls, whatever carries the messages.

Fed with both directions; asks the gate about calls and tells it how they ended. What it learns of the
session's tools goes to the session's offering.
"""

import asyncio
from dataclasses import replace
from typing import TypeAlias

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.proxy.mcp.client_arguments import ClientArguments
from paste_proxy.proxy.mcp.exchange import Exchange, TakenBack
from paste_proxy.proxy.mcp.ids import id_key
from paste_proxy.proxy.mcp.offering import Headers, MakeSpeculator, Offering
from paste_proxy.proxy.ports import AgentCall, Decision, RunIt, ServeIt, ToolGate
from paste_proxy.tools.mcp_hello import Hello, stateless_hello
from paste_proxy.wire.jsonrpc import Notification, Request, Response, Single
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read, string
from paste_proxy.wire.mcp import Era, McpToolCall, era_of, protocol_meta, tool_result
from paste_proxy.wire.mcp_tools import ListedTool, listed_tools, next_cursor

APART = "#apart"
"""Suffix of the scope of calls that may not be served: nothing is ever offered under it."""

UNREAD = "(unread)"
"""Stands for the tool of a message that could not be read: unknown, so it counts as a write."""

CANCELLED_S = 5.0
"""A server may still answer a call that its client cancelled; after this long it will not."""
_ROOTS_OPEN = 16

Asked: TypeAlias = ServeIt | Exchange | TakenBack


class McpWatch:
    """One client session with one server.

    Args:
        scope: the key of this connection.
        make: makes the session's backend; None where its tools may not be run speculatively.
        client_arguments: what the server's tools make of arguments that clients add.
        warm: whether the backend gets ready as soon as tools are known.
        lists: whether the backend asks for the tools where the client does not; see `Offering`.
    """

    def __init__(
        self,
        gate: ToolGate,
        server: str,
        scope: str,
        make: MakeSpeculator | None,
        client_arguments: ClientArguments | None = None,
        *,
        warm: bool = False,
        lists: bool = False,
    ) -> None:
        self._gate, self._server = gate, server
        arguments = client_arguments or ClientArguments(())
        self._offering = Offering(gate, server, scope, make, arguments, warm=warm, lists=lists)
        self._roots_open: set[bytes] = set()
        self._called = False
        self._ahead = True
        self._asking: dict[bytes, asyncio.Task[Decision]] = {}
        self._running: dict[bytes, Exchange] = {}
        self.content_type = ""
        """Content type of the latest live answer to a tool call, over HTTP."""

    @property
    def session(self) -> str | None:
        """The agent session that this connection's requests name, if they do."""
        return self._offering.session

    @session.setter
    def session(self, session: str | None) -> None:
        self._offering.session = session

    def client_sent(self, message: Single, headers: Headers | None = None) -> None:
        """The client sent this; `headers` are its credentials and custom headers, over HTTP."""
        if headers is not None:
            self._offering.presented(headers)
        match message:
            case Response(id_raw=id_raw, result_raw=roots) if id_key(id_raw) in self._roots_open:
                self._roots_open.discard(id_key(id_raw))
                self._offering.given(roots)
            case Notification(method="notifications/roots/list_changed"):
                self._offering.given(None)
            case Notification(method="notifications/cancelled", params_raw=params_raw):
                self._cancelled((members(params_raw or b"") or {}).get("requestId", b""))
            case _:
                pass

    def server_sent(self, message: Single) -> None:
        """The server sent this of its own accord."""
        hello = self._offering.hello
        match message:
            case Request(method="roots/list", id_raw=id_raw) if hello is not None:
                early = hello.asked_at_opening or not self._called
                self._offering.hello = replace(hello, asked_roots=True, asked_at_opening=early)
                if len(self._roots_open) < _ROOTS_OPEN:
                    self._roots_open.add(id_key(id_raw))
            case Notification(method="notifications/tools/list_changed"):
                self._offering.changed()
            case _:
                pass

    def begin(self, request: Request) -> Exchange | None:
        """Follow a request that is no tool call; None where nothing is to be learnt from its answer."""
        match request.method:
            case "initialize":
                return Exchange(request.id_raw, lambda response: self._introduced(request, response))
            case "tools/list":
                return Exchange(request.id_raw, lambda response: self._listed(request, response))
            case _:
                return None

    async def ask(
        self, call: McpToolCall, session: str | None = None, *, apart: bool = False, revocable: bool = False
    ) -> Asked:
        """Ask about a tool call.

        Args:
            session: the agent session that the request names.
            apart: it has to be run, whatever there is.
            revocable: its client cancels it by notification, with an id that is no other client's.
        """
        self._called = True
        apart = apart or not call.plain or not self._offering.speaks_for(call)
        # The scope is this moment's: before the task's turn comes, another's request may have come with other headers.
        scope = self._offering.scope + APART if apart else self._offering.scope
        asking = asyncio.create_task(self._decision(call, session, scope))
        key = id_key(call.id_raw)
        if revocable:
            self._asking[key] = asking
        try:
            decision = await asking
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                return TakenBack()
            self._unheeded(asking)
            raise
        finally:
            if self._asking.get(key) is asking:
                del self._asking[key]
        if isinstance(decision, ServeIt):
            return Exchange(call.id_raw, lambda _: None) if apart else decision
        exchange = Exchange(call.id_raw, lambda response: self._ended(decision, call, exchange, response))
        if revocable:
            self._running[key] = exchange
        return exchange

    async def ask_unread(self) -> Exchange:
        """Tell the gate of a message that may hold any tool call but could not be read."""
        call = McpToolCall(id_raw=b"", name=UNREAD, arguments={}, era=Era.SESSION, plain=False)
        asked = await self.ask(call)
        assert isinstance(asked, Exchange)
        return asked

    def tool(self, name: str) -> ListedTool:
        """What the server said of a tool, defaults where it said nothing."""
        return self._offering.tool(name)

    def opt_out(self) -> None:
        """The client wants nothing run ahead."""
        self._ahead = False
        self._offering.opt_out()

    def close(self) -> None:
        """The session is over."""
        self._offering.close()

    async def closed(self) -> None:
        """Wait until what `close` began is done."""
        await self._offering.closed()

    async def _decision(self, call: McpToolCall, session: str | None, scope: str) -> Decision:
        asked = AgentCall(
            invocation=Invocation(f"{self._server}/{call.name}", call.arguments),
            scope=scope,
            session=session or call.session,
            call_id=call.call_id,
            ahead=self._ahead,
        )
        return await self._gate.ask(asked)

    def _unheeded(self, asking: "asyncio.Task[Decision]") -> None:
        """The asker left in the very moment in which it was answered."""
        if asking.done() and not asking.cancelled() and asking.exception() is None:
            decision = asking.result()
            if isinstance(decision, RunIt):
                self._gate.ended(decision.ticket, None)

    def _ended(self, decision: RunIt, call: McpToolCall, exchange: Exchange, response: Response | None) -> None:
        if self._running.get(key := id_key(call.id_raw)) is exchange:
            del self._running[key]
        outcome = _outcome(response)
        if outcome is not None:
            self._offering.answered(call.name, call.arguments, outcome.status)
        if response is not None and response.result_raw is not None:
            self._offering.called(call)
        self._gate.ended(decision.ticket, outcome)

    def _cancelled(self, id_raw: bytes) -> None:
        asking, running = self._asking.get(id_key(id_raw)), self._running.get(id_key(id_raw))
        if asking is not None:
            asking.cancel()
        if running is not None:
            asyncio.get_running_loop().call_later(CANCELLED_S, running.over, None)

    def _introduced(self, request: Request, response: Response | None) -> None:
        if response is None or response.result_raw is None or request.params_raw is None:
            return
        version = string(read((members(response.result_raw) or {}).get("protocolVersion", b"")))
        self._offering.hello = Hello(era=Era.SESSION, introduction=request.params_raw, version=version)

    def _listed(self, request: Request, response: Response | None) -> None:
        if response is None or response.result_raw is None:
            return
        if era_of(request.params_raw) is Era.STATELESS:
            self._offering.hello = stateless_hello(protocol_meta(request.params_raw))
        self._offering.listed(
            listed_tools(response.result_raw),
            first="cursor" not in (members(request.params_raw or b"") or {}),
            last=next_cursor(response.result_raw) is None,
        )


def _outcome(response: Response | None) -> ToolResult | None:
    if response is None:
        return None
    if response.error_raw is not None:
        return ToolResult(body=response.error_raw, status=Status.ERROR)
    return tool_result(response.result_raw or b"")
