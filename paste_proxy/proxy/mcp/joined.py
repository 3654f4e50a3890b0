"""`paste-proxy mcp --sidecar URL`: a stdio server that is `/mcp/NAME` of a running sidecar.

So the calls of a client that only knows stdio meet its LLM's traffic in one hub. Messages pass as they
are, in the client's order; every request has its own exchange over HTTP, whose end is what it takes to
cancel it in the stateless era.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing

from paste_proxy.errors import UpstreamFault
from paste_proxy.proxy.mcp.ids import id_key
from paste_proxy.proxy.mcp.joined_session import UNCERTAIN, JoinedSession
from paste_proxy.proxy.mcp.silence import NO_ANSWER
from paste_proxy.proxy.mcp.standard_pipes import Write
from paste_proxy.wire.jsonrpc import (
    Batch,
    Notification,
    Request,
    Response,
    RpcMessage,
    on_one_line,
    read_message,
    refuse,
)
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.mcp import Era, era_of
from paste_proxy.wire.mcp_tools import listed_tools

_IN_ORDER_S = 5.0
_RELISTEN_S = 0.5
_CANCELLED = 64


class JoinedServer:
    """Between a client's lines and its session.

    Args:
        write: sends a line to the client.
    """

    def __init__(self, session: JoinedSession, write: Write) -> None:
        self._session, self._write = session, write
        self._asking: dict[bytes, tuple[Era, asyncio.Task[None]]] = {}
        """Open requests by id."""
        self._given_up: set[asyncio.Task[None]] = set()
        self._cancelled: deque[bytes] = deque(maxlen=_CANCELLED)
        """Ids that need no response."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Task[None] | None = None

    async def run(self, client: AsyncIterator[bytes]) -> None:
        """Serve until the client closes its end and what it asked is answered.

        How long that takes is for the server to say: the sidecar ends a call that stays silent.
        """
        try:
            async for line in client:
                if line.strip():
                    await self._take(line, read_message(line))
            if awaited := self._tasks - self._given_up:
                await asyncio.wait(awaited)
        finally:
            tasks = [*self._tasks, *([self._listening] if self._listening else [])]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._session.close()

    async def _take(self, line: bytes, message: RpcMessage) -> None:
        match message:
            case Request(method="initialize"):
                await self._introduce(line, message)
            case Notification(method="notifications/cancelled") if self._closed(message):
                pass
            case _:
                await self._begin(line, message)
        if isinstance(message, Notification) and message.method == "notifications/initialized":
            self._listening = self._listening or asyncio.create_task(self._listen())

    async def _introduce(self, line: bytes, message: Request) -> None:
        try:
            async with aclosing(self._session.introduce(line)) as answers:
                async for raw in answers:
                    await self._write(raw)
        except UpstreamFault as fault:
            await self._write(on_one_line(refuse(message.id_raw, NO_ANSWER, str(fault))))

    async def _begin(self, line: bytes, message: RpcMessage) -> None:
        """Start an exchange and wait until the message is on its way, so that none overtakes it."""
        sent = asyncio.Event()
        era = era_of(message.params_raw) if isinstance(message, Request) else Era.SESSION
        stateless = message if isinstance(message, Request) and era is Era.STATELESS else None
        task = asyncio.create_task(self._exchange(line, message, stateless, sent))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(self._given_up.discard)
        if isinstance(message, Request):
            self._asking[id_key(message.id_raw)] = era, task
        if isinstance(message, Request | Batch):
            on_its_way = asyncio.create_task(sent.wait())
            await asyncio.wait([task, on_its_way], timeout=_IN_ORDER_S, return_when=asyncio.FIRST_COMPLETED)
            on_its_way.cancel()
        else:
            await asyncio.wait([task], timeout=_IN_ORDER_S)

    async def _exchange(self, line: bytes, message: RpcMessage, stateless: Request | None, sent: asyncio.Event) -> None:
        singles = message.messages if isinstance(message, Batch) else (message,)
        due = {id_key(single.id_raw): single for single in singles if isinstance(single, Request)}
        asked, why = tuple(due), f"the sidecar ended its answer without a response; {UNCERTAIN}"
        try:
            async with aclosing(self._session.ask(line, stateless, sent)) as answers:
                async for raw in answers:
                    self._heard(raw, due)
                    await self._write(raw)
        except UpstreamFault as fault:
            why = str(fault)
        finally:
            for key in asked:
                self._asking.pop(key, None)
        for key, request in due.items():
            if key not in self._cancelled:
                await self._write(on_one_line(refuse(request.id_raw, NO_ANSWER, why)))

    def _heard(self, raw: bytes, due: dict[bytes, Request]) -> None:
        message = read_message(raw)
        for single in message.messages if isinstance(message, Batch) else (message,):
            if isinstance(single, Response):
                request = due.pop(id_key(single.id_raw), None)
                if request is not None and request.method == "tools/list" and single.result_raw is not None:
                    self._session.listed(listed_tools(single.result_raw))

    def _closed(self, cancelled: Notification) -> bool:
        """Take a request of the stateless era back by closing its exchange; False if it is none."""
        key = id_key((members(cancelled.params_raw or b"") or {}).get("requestId", b""))
        self._cancelled.append(key)
        era, task = self._asking.get(key, (Era.SESSION, None))
        if task is None:
            return False
        self._given_up.add(task)
        return era is Era.STATELESS and task.cancel()

    async def _listen(self) -> None:
        while self._session.open:
            async with aclosing(self._session.listen()) as messages:
                async for raw in messages:
                    await self._write(raw)
            await asyncio.sleep(_RELISTEN_S)
