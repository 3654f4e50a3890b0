"""What a program wrote, of which only the beginning and the end are kept when it is much."""

from collections import deque

_HEAD = 10_000
_TAIL = 20_000


class Output:
    """Fed with bytes as they come."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """More of it."""
        room = _HEAD - len(self._head)
        self._head += data[:room]
        rest = data[room:]
        if not rest:
            return
        self._tail.append(rest)
        self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0]) >= _TAIL:
            first = self._tail.popleft()
            self._tail_size -= len(first)
            self._dropped += len(first)

    @property
    def left_out(self) -> int:
        """Bytes of the middle that the text is without."""
        return self._dropped + max(0, self._tail_size - _TAIL)

    def text(self) -> str:
        """All of it, or beginning and end with a line between them. What is no UTF-8 shows as U+FFFD."""
        tail = b"".join(self._tail)
        if not self.left_out:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        begin, end = self._head.decode("utf-8", "replace"), tail[-_TAIL:].decode("utf-8", "replace")
        gap = f"[... {self.left_out} bytes left out; send the output to a file and read that in parts ...]"
        return f"{begin}\n{gap}\n{end}"
