"""Our own stdin and stdout as a client's pipes."""

import asyncio
import os
import stat
import sys
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from paste_proxy.errors import ClientFault

Write: TypeAlias = Callable[[bytes], Awaitable[None]]

_STREAM_BYTES = 2**20


def must_be_pipes() -> None:
    """No loop can wait for a file or the null device.

    Raises:
        ClientFault: our stdin or stdout is one.
    """
    for stream, number in (("stdin", 0), ("stdout", 1)):
        kind = os.fstat(number).st_mode
        if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(number)):
            raise ClientFault(f"{stream} is no pipe; an MCP client talks to this command through pipes")


async def our_stdin() -> asyncio.StreamReader:
    """What the client writes."""
    reader = asyncio.StreamReader(limit=_STREAM_BYTES)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def our_stdout() -> Write:
    """Writes to the client; waits while it does not read."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def write(line: bytes) -> None:
        writer.write(line)
        await writer.drain()

    return write
