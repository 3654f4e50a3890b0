"""An event stream that a client was given before there was an answer to put into it."""

from collections.abc import Callable

from aiohttp import ClientResponse, web

from paste_proxy.proxy.http.breaks import next_chunk
from paste_proxy.proxy.http.decoding import Decoder, decoder
from paste_proxy.proxy.http.observation import Observation

_OK, _UNREADABLE = 200, 502
_EVENT_STREAM = "text/event-stream"
_WHOLE_BYTES = 8 * 2**20
_PIECE_BYTES = 64 * 2**20
"""A piece that decodes to more is none of an LLM's."""


class Begun(web.StreamResponse):
    """Its status and headers are ours; what the upstream answers goes into it as it is, if that is a stream as well.

    Args:
        whole: the events of an answer that is no stream; None: it cannot be told in one.
        refused: the event that tells of an answer that is none: its status and its body.
    """

    def __init__(self, whole: Callable[[bytes], bytes | None], refused: Callable[[int, bytes], bytes]) -> None:
        super().__init__(headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"})
        self._whole, self._refused = whole, refused

    async def take(self, answer: ClientResponse, seen: Observation | None) -> bool:
        """Put an answer into it, uncoded, and each piece shown to the observer as it came; whether the upstream sent it
        to its end."""
        coding = answer.headers.get("Content-Encoding", "identity").lower()
        plain = decoder(coding)
        if coding != "identity" and plain is None:
            await self.write(self._refused(_UNREADABLE, f"an answer in the coding {coding!r}".encode()))
            return False
        streams = answer.status == _OK and answer.content_type == _EVENT_STREAM
        kept = b""
        while True:
            chunk, cut = await next_chunk(answer.content)
            try:
                piece = chunk if plain is None else _decoded(plain, chunk)
            except ValueError:
                return False
            if streams:
                await self.write(piece)
            elif len(kept) < _WHOLE_BYTES:
                kept += piece
            if seen is not None and chunk:
                seen.chunk(chunk)
            if cut or not chunk:
                break
        if not streams:
            await self.write(self._told(answer.status, kept))
        return not cut

    async def refuse(self, status: int, body: bytes) -> "Begun":
        """End it with what would have been the answer."""
        await self.write(self._told(status, body))
        await self.write_eof()
        return self

    def _told(self, status: int, body: bytes) -> bytes:
        events = self._whole(body) if status == _OK else None
        return self._refused(status, body) if events is None else events


def _decoded(plain: Decoder, chunk: bytes) -> bytes:
    return plain.decode(chunk, _PIECE_BYTES) if chunk else b""
