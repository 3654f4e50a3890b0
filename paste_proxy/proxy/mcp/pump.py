"""A stdio MCP server that is another one behind the sidecar: lines pass untouched, `tools/call` is asked about.

Messages keep their order. The one exception is a call that waits for a running speculative job: what the
client sends meanwhile does not wait for it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from paste_proxy.errors import UpstreamFault
from paste_proxy.proxy.mcp.exchange import Exchange, TakenBack
from paste_proxy.proxy.mcp.ids import id_key
from paste_proxy.proxy.mcp.standard_pipes import Write
from paste_proxy.proxy.mcp.watch import CANCELLED_S, McpWatch
from paste_proxy.proxy.ports import ServeIt
from paste_proxy.tools.mcp_peer import Peer
from paste_proxy.wire.jsonrpc import (
    Batch,
    Notification,
    Request,
    Response,
    Single,
    Unreadable,
    on_one_line,
    read_message,
    respond,
)
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.mcp import tool_call

_IN_ORDER_S = 0.05
"""A call is decided at once unless it waits for a running job; longer than this is such a wait."""


class McpPump:
    """One client, one server at work.

    Args:
        write: sends a line to the client.
        fault: called with a place for every contained fault.
    """

    def __init__(self, child: Peer, watch: McpWatch, write: Write, fault: Callable[[str], None]) -> None:
        self._child, self._watch, self._write, self._fault = child, watch, write, fault
        self._exchanges: dict[bytes, Exchange] = {}
        self._background: set[asyncio.Task[Any]] = set()

    async def run(self, client: AsyncIterator[bytes]) -> int:
        """Pump until the server is gone; its exit code."""
        forward = asyncio.create_task(self._from_client(client))
        try:
            async for line in self._child.lines():
                await self._write(line)
                self._contain(self._answered, line)
            return await self._child.wait()
        finally:
            for task in (forward, *self._background):
                task.cancel()
            await asyncio.gather(forward, *self._background, return_exceptions=True)
            for exchange in self._exchanges.values():
                exchange.over(None)

    async def _from_client(self, client: AsyncIterator[bytes]) -> None:
        async for line in client:
            deciding = asyncio.create_task(self._decide(line))
            self._background.add(deciding)
            await asyncio.wait([deciding], timeout=_IN_ORDER_S)
            self._background.discard(deciding)
            if deciding.done():
                await self._pass_on(line, deciding.result())
            else:
                later = asyncio.create_task(self._pass_on_later(line, deciding))
                self._background.add(later)
                later.add_done_callback(self._background.discard)
        if self._background:
            await asyncio.wait(self._background)
        self._child.close_input()

    async def _pass_on_later(self, line: bytes, deciding: "asyncio.Task[bytes | None]") -> None:
        await self._pass_on(line, await deciding)

    async def _pass_on(self, line: bytes, served: bytes | None) -> None:
        """Send a line to the server, or write what is served in its place; nothing (empty) for one taken back."""
        if served is not None:
            if served:
                await self._write(on_one_line(served))
            return
        with suppress(UpstreamFault):
            await self._child.send(line)

    async def _decide(self, line: bytes) -> bytes | None:
        try:
            return await self._consult(line)
        except Exception:  # noqa: BLE001 - whatever breaks here, the message goes on
            self._fault("mcp")
            return None

    async def _consult(self, line: bytes) -> bytes | None:
        """The response to a call that the server need not be asked for."""
        if not line.strip():
            return None
        message = read_message(line)
        if isinstance(message, Batch):
            for single in message.messages:
                await self._ask(single, apart=True)
            return None
        return await self._ask(message)

    async def _ask(self, message: Single, *, apart: bool = False) -> bytes | None:
        self._watch.client_sent(message)
        if isinstance(message, Unreadable):
            self._follow(await self._watch.ask_unread())
        if isinstance(message, Notification) and message.method == "notifications/cancelled":
            self._cancelled((members(message.params_raw or b"") or {}).get("requestId", b""))
        if not isinstance(message, Request):
            return None
        call = tool_call(message)
        if call is None:
            unread = message.method == "tools/call"
            exchange = await self._watch.ask_unread() if unread else self._watch.begin(message)
            if exchange is not None:
                self._follow(exchange)
            return None
        match await self._watch.ask(call, apart=apart, revocable=not apart):
            case Exchange() as exchange:
                self._follow(exchange)
                return None
            case TakenBack():
                return b""
            case ServeIt(result=result):
                return respond(call.id_raw, result.body)

    def _follow(self, exchange: Exchange) -> None:
        key = id_key(exchange.id_raw)
        twin = self._exchanges.pop(key, None)
        if twin is not None:
            twin.over(None)
        self._exchanges[key] = exchange

    def _cancelled(self, id_raw: bytes) -> None:
        """A server need not answer what its client cancelled."""
        exchange = self._exchanges.get(id_key(id_raw))
        if exchange is not None:
            asyncio.get_running_loop().call_later(CANCELLED_S, self._forget, id_key(id_raw), exchange)

    def _forget(self, key: bytes, exchange: Exchange) -> None:
        if self._exchanges.get(key) is exchange:
            del self._exchanges[key]
        exchange.over(None)

    def _answered(self, line: bytes) -> None:
        message = read_message(line)
        for single in message.messages if isinstance(message, Batch) else (message,):
            exchange = self._exchanges.pop(id_key(single.id_raw), None) if isinstance(single, Response) else None
            if exchange is not None and isinstance(single, Response):
                exchange.over(single)
            else:
                self._watch.server_sent(single)

    def _contain(self, act: Callable[[bytes], None], line: bytes) -> None:
        try:
            act(line)
        except Exception:  # noqa: BLE001 - the observer may be broken, the pump goes on
            self._fault("mcp")
