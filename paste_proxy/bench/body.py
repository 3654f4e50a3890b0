"""The body of one HTTP/1.1 answer, taken from its framing as it arrives; for well-formed answers only."""

import re

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


class AnswerBody:
    """Feed it what arrives; `body` grows, `complete` says when the answer ends."""

    def __init__(self) -> None:
        self.head = b""
        self.body = bytearray()
        self.complete = False
        self._raw = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the connection."""
        self._raw += data
        if not self.head:
            end = self._raw.find(b"\r\n\r\n")
            if end < 0:
                return
            self.head = bytes(self._raw[: end + 2])
            del self._raw[: end + 4]
            length = _LENGTH.search(self.head)
            self._length = int(length[1]) if length else None
        if self._length is None:
            self._take_chunks()
        else:
            self.body += self._raw
            self._raw.clear()
            self.complete = len(self.body) >= self._length

    def _take_chunks(self) -> None:
        """Take whole chunks; a broken one waits for its rest."""
        start = 0
        while (line := self._raw.find(b"\r\n", start)) >= 0:
            size = int(self._raw[start:line], 16)
            end = line + 2 + size
            if len(self._raw) < end + 2:
                break
            self.body += self._raw[line + 2 : end]
            start = end + 2
            self.complete = size == 0
        del self._raw[:start]
