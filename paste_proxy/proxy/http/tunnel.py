"""A connection that has changed its protocol (a WebSocket): bytes to and fro, uninterpreted.

The handshake goes through the relay as any request does, and an upstream's refusal is an answer like any
other. Frames, extensions, pings and close codes are between the two ends; a connection that breaks without
a goodbye breaks on the other side too.
"""

import asyncio

import structlog
from aiohttp import ClientResponse, HttpVersion11, StreamReader, web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import StreamWriter

from paste_proxy.proxy.http.breaks import reset
from paste_proxy.proxy.http.headers import Headers

_BUFFER_BYTES = 2**16
_log = structlog.get_logger(__name__)


def is_upgrade(request: web.Request) -> bool:
    """Whether the client asks for the one upgrade that the server can step aside for."""
    asks = "upgrade" in request.headers.get("Connection", "").lower() and request.version >= HttpVersion11
    return asks and request.headers.get("Upgrade", "").lower() == "websocket"


def upgrade_headers(name: str) -> Headers:
    """The hop-by-hop headers of the handshake, as each hop writes them anew."""
    return [("Connection", "Upgrade"), ("Upgrade", name)]


async def tunnel(request: web.Request, response: web.StreamResponse, answer: ClientResponse, upstream: str) -> None:
    """Pass on what either side sends until one of them closes.

    Args:
        response: the answer to the client, its head sent.
        answer: the upstream's, whose head agrees to the upgrade.
        upstream: its origin, for the log.
    """
    connection = answer.connection
    protocol = connection.protocol if connection is not None else None
    if protocol is None or request.transport is None:
        return  # gone before it began
    _log.debug("tunnel_opened", upstream=upstream)
    loop = asyncio.get_running_loop()
    here, there = _Hose(request.protocol, loop), _Hose(protocol, loop)
    up = StreamWriter(protocol, loop)
    request.protocol.set_parser(here)  # type: ignore[arg-type]  # it asks for no more than a hose has
    protocol.set_parser(there, there.content)
    pumps = {asyncio.create_task(_pump(here.content, up)), asyncio.create_task(_pump(there.content, response))}
    try:
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        if protocol.transport is not None:
            protocol.transport.write(here.rest())  # last words of a client that has gone
        if isinstance(protocol.exception(), OSError):
            reset(request.transport)
        _log.debug("tunnel_closed", upstream=upstream, bytes_up=here.passed, bytes_down=there.passed)


class _Hose:
    """Takes a connection's bytes in place of a parser; reading stops while nobody drinks."""

    def __init__(self, protocol: BaseProtocol, loop: asyncio.AbstractEventLoop) -> None:
        self.content = StreamReader(protocol, _BUFFER_BYTES, loop=loop)
        self.passed = 0

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Bytes came; never the end of anything, never too many."""
        self.passed += len(data)
        self.content.feed_data(data)
        return False, b""

    def feed_eof(self) -> None:
        """The connection is closed."""
        self.content.feed_eof()

    def rest(self) -> bytes:
        """What nobody drank."""
        return b"" if self.content.exception() is not None else self.content.read_nowait()


async def _pump(source: StreamReader, target: StreamWriter | web.StreamResponse) -> None:
    """Raises ClientError or OSError where either side breaks."""
    while chunk := await source.readany():
        await target.write(chunk)
