"""Request bodies on their way upstream, byte for byte, with a bounded copy for the observer."""

import asyncio
from collections.abc import Callable

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from paste_proxy.proxy.ports import Pieces

Sent = Callable[[Pieces | None], None]
"""Takes the copy once the whole body has gone, None where there is no copy."""

WHOLE_BODY_BYTES = 256 * 2**10
"""Bodies of known length up to this are read before they are sent; larger ones stream through."""


async def upload_of(request: web.Request, keep: int, sent: Sent | None, head: bytes = b"") -> "Upload | None":
    """The request's body as something to send, or None if it has none.

    Args:
        keep: bytes that may be copied for the observer.
        head: what a route has already taken from the body.
    """
    if not request.body_exists:
        return None
    length = request.content_length
    if length is not None and length <= WHOLE_BODY_BYTES:
        return Upload(head + await request.read(), length, 0, sent)
    if request.content_type.startswith("multipart/"):
        keep = 0
    return Upload(request.content, length, keep, sent, head)


class Upload(Payload):
    """A body that is bytes already or still arrives."""

    def __init__(
        self, source: bytes | StreamReader, length: int | None, keep: int, sent: Sent | None, head: bytes = b""
    ) -> None:
        super().__init__(source)
        self._head = head
        self._source, self._size, self._keep, self._sent = source, length, keep, sent
        self.client_fault: Exception | None = None
        """What went wrong on the client's side of the transfer."""

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Send the body as it is; its length is the client's business."""
        await self.write(writer)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Send the body, then report it sent, once the sender has finished with it."""
        if isinstance(self._source, bytes):
            await writer.write(self._source)
            if self._sent is not None:
                asyncio.get_running_loop().call_soon(self._sent, (self._source,))
            return
        copy = await self._stream(self._source, writer)
        if self._sent is not None:
            asyncio.get_running_loop().call_soon(self._sent, copy)

    async def _stream(self, source: StreamReader, writer: AbstractStreamWriter) -> list[bytes] | None:
        self._consumed = True
        copy: list[bytes] = []
        chunk, self._head = self._head, b""
        while True:
            try:
                chunk = chunk or await source.readany()
            except Exception as fault:
                self.client_fault = fault
                raise
            if not chunk:
                break
            await writer.write(chunk)
            self._keep -= len(chunk)
            if self._keep >= 0 and self._sent is not None:
                copy.append(chunk)
            else:
                copy.clear()
            chunk = b""
        return copy if self._keep >= 0 else None

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The body as text; only for bodies that are here already."""
        if isinstance(self._source, bytes):
            return self._source.decode(encoding, errors)
        raise TypeError("a body still on its way cannot be read")
