"""The objects of a JSON text that arrives in pieces: one object, or the elements of one array.

Looks at strings and braces alone and at every byte once; whether an object is good JSON is for a parser to
say. What stands outside of objects is passed over.
"""

import re

_IN_STRING = re.compile(rb'["\\]')
_OUTSIDE = re.compile(rb'["{}]')


class ObjectDecoder:
    """Bytes of a JSON text in, its outermost objects out; raises nothing. Keeps what is not given yet."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._at = 0
        """Where to look on; one beyond the end where an escape was cut."""
        self._depth = 0
        self._begin = 0
        self._in_string = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The objects completed by these bytes."""
        self._pending += chunk
        objects = []
        while mark := (_IN_STRING if self._in_string else _OUTSIDE).search(self._pending, self._at):
            self._at = mark.end()
            if self._passed(mark[0], mark.start()):
                objects.append(bytes(self._pending[self._begin : self._at]))
        self._at = max(self._at, len(self._pending))
        self._forget(self._begin if self._depth else len(self._pending))
        return objects

    def _passed(self, mark: bytes, at: int) -> bool:
        """Take note of a mark; whether it closed an outermost object."""
        if mark == b"\\":
            self._at += 1
        elif mark == b'"':
            self._in_string = not self._in_string
        elif mark == b"{":
            self._begin = self._begin if self._depth else at
            self._depth += 1
        elif self._depth:
            self._depth -= 1
            return self._depth == 0
        return False

    def _forget(self, length: int) -> None:
        del self._pending[:length]
        self._at -= length
        self._begin = 0
