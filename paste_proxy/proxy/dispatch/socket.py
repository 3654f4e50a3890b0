"""The SDK's WebSocket: one agent process that registers tools, asks about its calls and runs jobs.

Each session of a process is a scope of its own: a job is run as the session it is for, and its value
never reaches another one. `paste_proxy.agents.protocol` says who says what when.
"""

import asyncio
import contextlib
from itertools import count

import structlog
from aiohttp import WSMsgType, web

from paste_proxy.agents import protocol
from paste_proxy.errors import ClientFault
from paste_proxy.proxy.dispatch.origin import foreign_origin
from paste_proxy.proxy.dispatch.peer import Peer
from paste_proxy.proxy.http.opting_out import opts_out
from paste_proxy.proxy.ports import ToolGate

log = structlog.get_logger(__name__)

_HEARTBEAT_S = 20.0
_OUTBOX_MESSAGES = 10_000
"""An agent that lets more than this pile up is not reading; it is disconnected and goes on alone."""


class DispatchSocket:
    """The WebSocket's handler."""

    def __init__(self, gate: ToolGate) -> None:
        self._gate = gate
        self._numbers = count(1)
        self._open: set[web.WebSocketResponse] = set()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one agent process until it disconnects."""
        if refusal := foreign_origin(request):
            return web.json_response({"error": refusal}, status=403)
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, max_msg_size=protocol.MESSAGE_BYTES, compress=False)
        await socket.prepare(request)
        self._open.add(socket)
        try:
            ahead = not opts_out(request.headers.items())
            await _serve(socket, self._gate, f"sdk-{next(self._numbers)}", ahead=ahead)
        finally:
            self._open.discard(socket)
        return socket

    async def close(self) -> None:
        """Say goodbye to every agent."""
        for socket in tuple(self._open):
            await socket.close()


async def _serve(socket: web.WebSocketResponse, gate: ToolGate, name: str, *, ahead: bool) -> None:
    outbox: asyncio.Queue[protocol.FromSidecar] = asyncio.Queue(_OUTBOX_MESSAGES)
    writer = asyncio.create_task(_write(socket, outbox))

    def send(message: protocol.FromSidecar) -> None:
        try:
            outbox.put_nowait(message)
        except asyncio.QueueFull:
            writer.cancel()

    peer = Peer(name, gate, send, ahead=ahead)
    reader = asyncio.create_task(_read(socket, peer))
    try:
        await asyncio.wait((reader, writer), return_when=asyncio.FIRST_COMPLETED)
    finally:
        reader.cancel()
        writer.cancel()
        await asyncio.gather(reader, writer, return_exceptions=True)
        await peer.close()
        await socket.close()


async def _write(socket: web.WebSocketResponse, outbox: asyncio.Queue[protocol.FromSidecar]) -> None:
    with contextlib.suppress(ConnectionError):
        while True:
            await socket.send_str(protocol.encode(await outbox.get()))


async def _read(socket: web.WebSocketResponse, peer: Peer) -> None:
    try:
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await peer.take(protocol.read_from_agent(message.data))
    except (ClientFault, ValueError) as fault:
        log.warning("agent_refused", agent=peer.name, reason=str(fault))
        with contextlib.suppress(ConnectionError):
            await socket.send_str(protocol.encode(protocol.Refusal(reason=str(fault))))
    except Exception as fault:  # noqa: BLE001  ours: the agent is disconnected and goes on alone
        log.warning("agent_fault", agent=peer.name, fault=repr(fault))
