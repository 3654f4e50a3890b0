"""Ends that are no ends: a body whose connection is lost ends with an error, and errors can be passed on.

aiohttp sees to that but for one case: where the framing of a chunked body is broken it closes the
connection and leaves who reads the body waiting for ever.
"""

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import ClientError, ClientPayloadError, StreamReader
from aiohttp.client_proto import ResponseHandler


@contextmanager
def breaks_heard(protocol: ResponseHandler | None, content: StreamReader) -> Iterator[None]:
    """While inside, hear of the connection's loss; `protocol` is None once the body has ended."""

    def lost(_: object = None) -> None:
        if not content.is_eof() and content.exception() is None:
            content.set_exception(ClientPayloadError("the connection was lost before the body had ended"))

    closed = protocol.closed if protocol is not None else None
    if closed is None:
        if protocol is not None:
            lost()
        yield
        return
    closed.remove_done_callback(_told)
    closed.add_done_callback(_told)
    closed.add_done_callback(lost)
    try:
        yield
    finally:
        closed.remove_done_callback(lost)


def _told(closed: "asyncio.Future[None]") -> None:
    """Nobody needs to be warned of a loss that is nobody's any more; once on each connection."""
    if not closed.cancelled():
        closed.exception()


def reset(transport: asyncio.Transport) -> None:
    """End a connection so that the peer takes it for broken; what it was not given yet is lost."""
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


async def next_chunk(content: StreamReader) -> tuple[bytes, bool]:
    """The next bytes, empty at the end, and whether the upstream broke off after them."""
    try:
        return await content.readany(), False
    except (ClientError, OSError):
        # The reader keeps what came just before the break behind its exception.
        content.set_exception(None)  # type: ignore[arg-type]
        return content.read_nowait(), True
