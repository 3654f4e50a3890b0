"""What one MCP client session offers to be run speculatively, and under which scope.

Tools are offered once client and server have listed them. Some clients call tools without ever listing them:
then the session's own speculative connection lists them, for the calls that follow.

When the server says that its tools changed, or the client's roots did, what was run ahead before is void: the offer
is withdrawn and the scope gets a new name, under which tools are offered again when they are known again.

So it is when a request of the session comes with other credentials or custom headers than the one before: it may
be another user's, and what the server answers may depend on them. A session of ours that was opened with
the earlier ones runs nothing new. Tools are offered again once two requests in a row agree; headers that are other ones
every time are those of no user.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeAlias

from paste_proxy.errors import PasteError
from paste_proxy.events.result import Status
from paste_proxy.events.values import Json
from paste_proxy.proxy.mcp.client_arguments import ClientArguments
from paste_proxy.proxy.ports import ToolGate
from paste_proxy.speculation.hints import Hints
from paste_proxy.tools.backend import Backend
from paste_proxy.tools.mcp_hello import Hello, stateless_hello
from paste_proxy.wire.mcp import Era, McpToolCall, same_identity
from paste_proxy.wire.mcp_tools import ListedTool

Headers: TypeAlias = tuple[tuple[str, str], ...]
_LISTS = 3
"""Times that a list is asked for which cannot be had."""


class Speculator(Backend, Protocol):
    """A backend that can get ready ahead of its first call."""

    def warm(self) -> None:
        """Get ready in the background. Raises nothing."""

    async def list_tools(self) -> tuple[ListedTool, ...]:
        """The server's tools.

        Raises:
            UpstreamFault: they cannot be had.
        """

    async def retire(self) -> None:
        """Close once the calls under way have ended: one of them may have become the agent's own."""


MakeSpeculator: TypeAlias = Callable[[Callable[[], Hello], Callable[[], Mapping[str, ListedTool]]], Speculator]
"""Makes the backend for a session, given what its client says of itself and the tools it was told."""


class Offering:
    """The offers of one client session with one server.

    Args:
        scope: the key of this connection.
        make: makes the session's backend; None where its tools may not be run speculatively.
        warm: whether the backend gets ready as soon as tools are known.
        lists: whether the backend asks for the tools where the client does not: something of them may be run ahead.
    """

    def __init__(
        self,
        gate: ToolGate,
        server: str,
        scope: str,
        make: MakeSpeculator | None,
        client_arguments: ClientArguments,
        *,
        warm: bool,
        lists: bool = False,
    ) -> None:
        self._gate, self._server, self._scope = gate, server, scope
        self._make, self._client_arguments, self._warm = make, client_arguments, warm
        self._lists_left = _LISTS if lists and make is not None else 0
        """How often the backend may still ask for the tools without having got them; 0 once the client asks."""
        self._listing: asyncio.Task[None] | None = None
        self._backend: Speculator | None = None
        self._tools: dict[str, ListedTool] = {}
        self._whole = False
        """Whether the list was read to its end and holds."""
        self._generation = 0
        self._retiring: set[Speculator] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._headers: Headers | None = None
        """The client's credentials and custom headers, over HTTP."""
        self._settled = True
        """Whether the latest request came with the headers of the one before."""
        self.hello: Hello | None = None
        """How the client presents itself, once it has."""
        self.session: str | None = None
        """The agent session that this connection's requests name, if they do."""

    @property
    def scope(self) -> str:
        """The scope of calls that may be served."""
        return f"{self._scope}~{self._generation}" if self._generation else self._scope

    def tool(self, name: str) -> ListedTool:
        """What the server said of a tool, defaults where it said nothing."""
        return self._tools.get(name) or ListedTool(name=name)

    def listed(self, tools: tuple[ListedTool, ...], *, first: bool, last: bool) -> None:
        """The server gave a page of its tools: the first of a list, its last, or both."""
        self._lists_left = 0
        known = {} if first else self._tools
        self._tools = {**known, **{tool.name: tool for tool in tools}}
        self._whole = last
        if last:
            self._offer()

    def changed(self) -> None:
        """The server's tools are other ones now: nothing is run ahead until they are listed again."""
        self._whole = False
        self._renew()

    def called(self, call: McpToolCall) -> None:
        """The client called a tool, with a result: if it has never asked for the list, the backend does."""
        if self._make is None or self._whole or not self._lists_left or not self._settled or self._listing is not None:
            return
        if self.hello is None and call.era is Era.STATELESS:
            self.hello = stateless_hello(call.identity)
        if self.hello is not None:
            self._lists_left -= 1
            self._listing = self._begin(self._list(self._speculator(self._make), self._generation))
            self._listing.add_done_callback(self._listing_over)

    def given(self, roots: bytes | None) -> None:
        """The client told its roots, raw JSON, or that they are other ones now (None)."""
        if self.hello is None or self.hello.roots == roots:
            return
        self.hello = replace(self.hello, roots=roots)
        self._renew()
        if self._whole:
            self._offer()

    def speaks_for(self, call: McpToolCall) -> bool:
        """Whether a call's client says of itself what a session of ours says in its name."""
        if self.hello is None:
            return True
        return same_identity(call.identity, self.hello.introduction if self.hello.era is Era.STATELESS else b"{}")

    def presented(self, headers: Headers) -> None:
        """A request came with these credentials and custom headers."""
        before, self._headers = self._headers, headers
        if before is not None and sorted(before) != sorted(headers):
            self._settled = False
            self._whole = self._whole and not self._lists_left  # a session of ours was told it as another client
            self._renew()
            self._retire()
        elif not self._settled:
            self._settled = True
            if self._whole:
                self._offer()

    def answered(self, tool: str, arguments: Mapping[str, Json], status: Status) -> None:
        """A live call of a tool came back."""
        listed = self._tools.get(tool)
        if listed and self._client_arguments.answered(listed, arguments, status) and self._whole:
            self._offer()

    def opt_out(self) -> None:
        """The client wants nothing run ahead: nothing is offered any more."""
        if self._make is not None:
            self._make, self._lists_left = None, 0
            self._renew()
            self._retire()

    def close(self) -> None:
        """The session is over."""
        self._gate.withdraw(self.scope)
        self._stop_listing()
        backend, self._backend = self._backend, None
        for ending in {*self._retiring, *([backend] if backend is not None else [])}:
            self._begin(ending.close())

    async def closed(self) -> None:
        """Wait until what `close` began is done."""
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _retire(self) -> None:
        """Leave the backend to what it runs; a later offer makes another."""
        self._stop_listing()
        backend, self._backend = self._backend, None
        if backend is not None:
            self._retiring.add(backend)
            self._begin(backend.retire()).add_done_callback(lambda _: self._retiring.discard(backend))

    def _begin(self, ending: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(ending)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return task

    def _offer(self) -> None:
        offered = {f"{self._server}/{tool.name}": tool for tool in self._tools.values() if not tool.task_required}
        if self._make is None or self.hello is None or not offered or not self._settled:
            return
        backend = self._speculator(self._make)
        beside = {identity: found for identity, tool in offered.items() if (found := self._unnoticed(tool))}
        hints = {identity: Hints(tool.read_only, tool.open_world, tool.arguments) for identity, tool in offered.items()}
        self._gate.offer(self.scope, self._server, backend, offered, session=self.session, beside=beside, hints=hints)

    def _speculator(self, make: MakeSpeculator) -> Speculator:
        if self._backend is None:
            self._backend = make(partial(self._present, self._headers or ()), lambda: self._tools)
            if self._warm:
                self._backend.warm()
        return self._backend

    async def _list(self, backend: Speculator, generation: int) -> None:
        """Have the tools listed; those are left whose calls over HTTP need headers that only the list tells of."""
        with suppress(PasteError):
            tools = await backend.list_tools()
            if generation == self._generation and self._lists_left:
                self._tools = {tool.name: tool for tool in tools if not tool.mirrored}
                self._whole, self._lists_left = True, _LISTS
                self._offer()

    def _listing_over(self, task: asyncio.Task[None]) -> None:
        if self._listing is task:
            self._listing = None

    def _stop_listing(self) -> None:
        if self._listing is not None:
            self._listing.cancel()
            self._listing = None

    def _unnoticed(self, tool: ListedTool) -> frozenset[str]:
        return self._client_arguments.unnoticed(tool)

    def _renew(self) -> None:
        if self._backend is not None:
            self._gate.withdraw(self.scope)
            self._generation += 1

    def _present(self, headers: Headers) -> Hello:
        assert self.hello is not None
        return replace(self.hello, headers=headers)
