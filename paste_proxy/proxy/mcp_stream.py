"""What goes to the client on one HTTP answer: messages in order, until all that is due has come."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from paste_proxy.proxy.mcp_ids import id_key

_MESSAGES_AHEAD = 256
"""A client that reads more slowly than its server writes holds the server up, as a pipe would."""

Restore = Callable[[bytes], bytes]


class McpStream:
    """One answer in the making.

    Args:
        due: raw ids whose responses end the stream; None for a stream that only its client ends.
        progress: whether other messages than the due responses may go this way.
        restore: applied to every message; puts back what was changed on the way to the server.
    """

    def __init__(self, due: Iterable[bytes] | None, *, progress: bool, restore: Restore | None = None) -> None:
        self._due = None if due is None else {id_key(id_raw) for id_raw in due}
        self.progress = progress
        self._restore = restore
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(_MESSAGES_AHEAD)
        self.closed = False

    async def put(self, raw: bytes, answers: bytes | None = None) -> None:
        """Send a message; `answers` is the raw id that it is the response to."""
        if self.closed:
            return
        await self._queue.put(self._restore(raw) if self._restore else raw)
        if self._due is not None and answers is not None:
            self._due.discard(id_key(answers))
            if not self._due:
                await self._queue.put(None)

    async def end(self) -> None:
        """Nothing more comes."""
        if not self.closed:
            await self._queue.put(None)

    def close(self) -> None:
        """The client reads no further; whoever waits to put something is let go."""
        self.closed = True
        while not self._queue.empty():
            self._queue.get_nowait()

    async def messages(self, pause_s: float) -> AsyncIterator[bytes | None]:
        """The messages; None after every pause of `pause_s` seconds without one."""
        while True:
            try:
                async with asyncio.timeout(pause_s):
                    raw = await self._queue.get()
            except TimeoutError:
                yield None
                continue
            if raw is None:
                return
            yield raw
