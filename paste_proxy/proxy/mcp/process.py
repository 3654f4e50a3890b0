"""A stdio MCP server at work: which of its messages goes to which answer of its client.

Responses go where their request came from, progress to the stream of the request that asked for it, all
else to the stream the client keeps open for that, or to the youngest open answer, or waits for one.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from paste_proxy.errors import UpstreamFault
from paste_proxy.proxy.mcp.exchange import Exchange
from paste_proxy.proxy.mcp.ids import id_key
from paste_proxy.proxy.mcp.renumber import subscription
from paste_proxy.proxy.mcp.silence import NO_ANSWER
from paste_proxy.proxy.mcp.stream import McpStream
from paste_proxy.proxy.mcp.watch import CANCELLED_S
from paste_proxy.tools.mcp_peer import Peer
from paste_proxy.wire.jsonrpc import Batch, Notification, Response, Single, on_one_line, read_message, refuse
from paste_proxy.wire.jsonspans import elements, members

_KEPT_MESSAGES = 256
"""Messages kept while no stream is open; the oldest go first."""

_FAREWELL_S = 2.0
"""How long a client that does not read its answers can hold up the end of its server."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that the server has not answered."""

    stream: McpStream
    exchange: Exchange | None
    token: bytes | None = None
    """Raw progress token it goes by at the server."""


class McpProcess:
    """One child and its routing.

    Args:
        heard: shown every message that the server sends of its own accord.
        gone: called once the child is over.
        shared: whether several clients use it; what cannot be told to be for one of them then goes to none.
    """

    def __init__(
        self, child: Peer, heard: Callable[[Single], None], gone: Callable[[], None], *, shared: bool = False
    ) -> None:
        self._child, self._heard, self._gone, self._shared = child, heard, gone, shared
        self._waiting: dict[bytes, Waiting] = {}
        self._tokens: dict[bytes, McpStream] = {}
        self._listener: McpStream | None = None
        self._kept: deque[bytes] = deque(maxlen=_KEPT_MESSAGES)
        self._over = False
        self._ending: set[asyncio.Task[None]] = set()
        self._reader = asyncio.create_task(self._read())

    @property
    def busy(self) -> bool:
        """Whether somebody waits for the server."""
        return bool(self._waiting) or self._listener is not None

    def expect(self, id_raw: bytes, waiting: Waiting) -> None:
        """A response to this request is to come."""
        self._waiting[id_key(id_raw)] = waiting
        if waiting.token is not None:
            self._tokens[id_key(waiting.token)] = waiting.stream

    def forget(self, id_raw: bytes) -> bool:
        """Nobody waits for this response any more; whether it was still to come."""
        return self._settle(id_raw, None) is not None

    def cancelled(self, id_raw: bytes) -> None:
        """The client cancelled this request: a server may still answer it, but need not."""
        waiting = self._waiting.get(id_key(id_raw))
        if waiting is not None:
            asyncio.get_running_loop().call_later(CANCELLED_S, self._unanswered, id_raw, waiting)

    async def send(self, raw: bytes) -> None:
        """Give the server a message.

        Raises:
            UpstreamFault: it no longer reads.
        """
        if self._over:
            raise UpstreamFault("the MCP server has ended")
        await self._child.send(on_one_line(raw.strip()))

    async def listen(self) -> McpStream:
        """Open the client's stream for what the server sends of its own accord; an earlier one ends."""
        if self._listener is not None:
            await self._listener.end()
        stream = self._listener = McpStream(None, progress=True)
        while self._kept:
            await stream.put(self._kept.popleft())
        return stream

    def unlisten(self, stream: McpStream) -> None:
        """The client's stream is closed."""
        stream.close()
        if self._listener is stream:
            self._listener = None

    async def close(self) -> None:
        """End the server; what waits for it is told so."""
        await self._child.close()
        await asyncio.wait([self._reader], timeout=_FAREWELL_S)
        self._reader.cancel()
        self._child.release()

    def _unanswered(self, id_raw: bytes, waiting: Waiting) -> None:
        if self._waiting.get(id_key(id_raw)) is waiting:
            self._settle(id_raw, None)
            task = asyncio.create_task(waiting.stream.forgo(id_raw))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _read(self) -> None:
        try:
            async for line in self._child.lines():
                message = read_message(line)
                for raw in (elements(line) or []) if isinstance(message, Batch) else [line.strip()]:
                    await self._route(raw)
        finally:
            self._over = True
            self._gone()
            obituary = self._child.obituary(await self._child.close())
            for id_raw in list(self._waiting):
                waiting = self._settle(id_raw, None)
                if waiting is not None:
                    await waiting.stream.put(refuse(id_raw, NO_ANSWER, obituary), id_raw)
            if self._listener is not None:
                await self._listener.end()

    async def _route(self, raw: bytes) -> None:
        message = read_message(raw)
        if isinstance(message, Batch):
            return
        if isinstance(message, Response):
            waiting = self._settle(message.id_raw, message)
            if waiting is not None:
                await waiting.stream.put(raw, message.id_raw)
            return
        self._heard(message)
        stream = self._stream_for(message)
        if stream is not None:
            await stream.put(raw)
        elif not self._shared:
            self._kept.append(raw)

    def _settle(self, id_raw: bytes, response: Response | None) -> Waiting | None:
        waiting = self._waiting.pop(id_key(id_raw), None)
        if waiting is None:
            return None
        if waiting.token is not None:
            self._tokens.pop(id_key(waiting.token), None)
        if waiting.exchange is not None:
            waiting.exchange.over(response)
        return waiting

    def _stream_for(self, message: Single) -> McpStream | None:
        stream = self._named_by(message) if isinstance(message, Notification) else None
        if self._shared or (stream is not None and stream.progress and not stream.closed):
            return stream
        if self._listener is not None:
            return self._listener
        answers = [waiting.stream for waiting in self._waiting.values()]
        return next((stream for stream in reversed(answers) if stream.progress and not stream.closed), None)

    def _named_by(self, message: Notification) -> McpStream | None:
        """The stream of the request that a notification names as its reason."""
        if message.method == "notifications/progress":
            return self._tokens.get(id_key((members(message.params_raw or b"") or {}).get("progressToken", b"")))
        waiting = self._waiting.get(id_key(subscription(message.params_raw) or b""))
        return waiting.stream if waiting is not None else None
