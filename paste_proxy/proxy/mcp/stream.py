"""What goes to the client on one HTTP answer: messages in order, until all that is due has come."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from paste_proxy.proxy.mcp.ids import id_key
from paste_proxy.proxy.mcp.silence import Silence

_MESSAGES_AHEAD = 256
"""A client that reads more slowly than its server writes holds the server up, as a pipe would."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message on its way to the client."""

    raw: bytes | None
    """None: there is no message, only the end."""
    last: bool
    """Whether the answer ends with it."""


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
        self.silence: Silence | None = None
        """Told of every message."""
        self._queue: asyncio.Queue[Sent] = asyncio.Queue(_MESSAGES_AHEAD)
        self.closed = False

    async def put(self, raw: bytes, answers: bytes | None = None) -> None:
        """Send a message; `answers` is the raw id that it is the response to."""
        if self.closed:
            return
        if self.silence is not None:
            self.silence.heard()
        if self._due is not None and answers is not None:
            self._due.discard(id_key(answers))
        await self._queue.put(Sent(self._restore(raw) if self._restore else raw, last=self._due == set()))

    @property
    def unread(self) -> bool:
        """Whether the client has not taken all that came."""
        return not self._queue.empty()

    async def forgo(self, id_raw: bytes) -> None:
        """No response to this request comes any more."""
        if self._due is not None:
            self._due.discard(id_key(id_raw))
            if not self._due:
                await self.end()

    async def end(self) -> None:
        """Nothing more comes."""
        if not self.closed:
            await self._queue.put(Sent(None, last=True))

    def close(self) -> None:
        """The client reads no further; whoever waits to put something is let go."""
        self.closed = True
        if self.silence is not None:
            self.silence.stop()
        while not self._queue.empty():
            self._queue.get_nowait()

    async def get(self, patience_s: float) -> Sent | None:
        """The next message; None if there is none within `patience_s` seconds."""
        try:
            async with asyncio.timeout(patience_s):
                return await self._queue.get()
        except TimeoutError:
            return None
