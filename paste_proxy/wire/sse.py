"""Server-Sent Events, read from bytes as they come (WHATWG HTML, section 9.2).

Line ends are made LF as bytes arrive, so that a CR at the end of one chunk and an LF at the start of
the next count once; everything after that knows one line end and one event boundary, LF LF. Only CR
and LF bytes end a line: no text is decoded, so neither a cut multi-byte character nor U+2028 matters.
"""

from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event."""

    event: str
    """Its type, `message` where the stream names none."""
    data: bytes
    """Its data lines, joined by LF."""
    id: str | None = None
    """The id it carries itself, None if it carries none."""


class SseDecoder:
    """Bytes of a stream in, events out; raises nothing.

    Args:
        max_event_bytes: size of the largest event that is kept. A larger one turns the decoder `deaf`:
            it gives no further events and keeps no further bytes.
    """

    def __init__(self, max_event_bytes: int) -> None:
        self.deaf = False
        self._max = max_event_bytes
        self._pending = bytearray()
        self._after_cr = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events completed by these bytes."""
        if self.deaf or not chunk:
            return []
        chunk = self._with_lf(chunk)
        searched = max(len(self._pending) - 1, 0)
        self._pending += chunk
        end = self._pending.rfind(b"\n\n", searched)
        blocks = b""
        if end >= 0:
            blocks = bytes(memoryview(self._pending)[:end])
            del self._pending[: end + 2]
        events = self._events(blocks) if blocks else []
        if self._too_long(self._pending):
            self._fall_deaf()
        return events

    def close(self) -> SseEvent | None:
        """The event that the stream ended in, if it has data: some senders leave out the last blank line."""
        events = [] if self.deaf else self._events(bytes(self._pending))
        self._pending.clear()
        return events[-1] if events else None

    def _with_lf(self, chunk: bytes) -> bytes:
        after_cr, self._after_cr = self._after_cr, chunk.endswith(b"\r")
        if after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in chunk else chunk

    def _events(self, blocks: bytes) -> list[SseEvent]:
        if not self._begun:
            self._begun = True
            blocks = blocks.removeprefix(_BOM)
        events = []
        for block in blocks.split(b"\n\n"):
            if self._too_long(block):
                self._fall_deaf()
                break
            event = _read(block)
            if event is not None:
                events.append(event)
        return events

    def _too_long(self, block: bytes | bytearray) -> bool:
        return len(block) > self._max and len(block.strip(b"\n")) > self._max

    def _fall_deaf(self) -> None:
        self.deaf = True
        self._pending.clear()


def _read(block: bytes) -> SseEvent | None:
    """The event of a block of lines, or None if it carries no data (comments, a lone id)."""
    if block.startswith(b"data:") and b"\n" not in block:
        return SseEvent("message", block[6:] if block.startswith(b" ", 5) else block[5:])
    event, event_id = "", None
    data: list[bytes] = []
    for line in block.split(b"\n"):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event":
            event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            event_id = value.decode("utf-8", "replace")
    return SseEvent(event or "message", b"\n".join(data), event_id) if data else None
