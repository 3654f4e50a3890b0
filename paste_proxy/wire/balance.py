"""Tells when a JSON object that arrives in pieces is whole, without parsing it again at every piece."""

import re

_IN_STRING = re.compile(r'["\\]')
_OUTSIDE = re.compile(r'["{}\[\]]')


class BalanceScanner:
    """Follows strings and brackets of a text fed in pieces; each character is looked at once."""

    def __init__(self) -> None:
        self.balanced = False
        """An outermost object has been closed. Whether it is good JSON is for the parser to say."""
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, piece: str) -> None:
        """Take the next piece of the text."""
        at = 0
        while at < len(piece):
            at = self._string(piece, at) if self._in_string else self._structure(piece, at)

    def _string(self, piece: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        mark = _IN_STRING.search(piece, at)
        if mark is None:
            return len(piece)
        if mark[0] == '"':
            self._in_string = False
        else:
            self._escaped = True
        return mark.end()

    def _structure(self, piece: str, at: int) -> int:
        mark = _OUTSIDE.search(piece, at)
        if mark is None:
            return len(piece)
        if mark[0] == '"':
            self._in_string = True
        elif mark[0] in "{[":
            self._depth += 1
        else:
            self._depth -= 1
            self.balanced = self.balanced or (self._depth == 0 and mark[0] == "}")
        return mark.end()
