"""The members of a JSON object that arrives in pieces, each as soon as its value can change no more.

A string, an array and an object are whole at their last character, any other value at the comma or brace
after it. Every character is looked at once and every member parsed once.
"""

import re

from paste_proxy.events.values import Json, loads
from paste_proxy.wire.loose import mapping, mended

_IN_STRING = re.compile(r'["\\]')
_AT_TOP = re.compile(r'["{}\[\],:]')
_DEEPER = re.compile(r'["{}\[\]]')


class MemberReader:
    """Pieces of an object's text in, its members so far out; raises nothing."""

    def __init__(self) -> None:
        self.members: dict[str, Json] = {}
        """Those whole so far; of a name that stands twice the last value."""
        self._deaf = False
        """The object is over, or is none."""
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._in_value = False
        self._pieces: list[str] = []
        """Of the member under way."""
        self._begin = 0
        """Where in the latest piece the member under way begins, or goes on."""

    def feed(self, piece: str) -> None:
        """Take the next piece of the text."""
        self._begin = at = 0 if self._depth else self._open(piece)
        while at < len(piece) and not self._deaf:
            at = self._string(piece, at) if self._in_string else self._structure(piece, at)
        if not self._deaf:
            self._pieces.append(piece[self._begin :])

    def _open(self, piece: str) -> int:
        """Go on before the object; a text that begins with anything else is none."""
        rest = piece.lstrip(" \t\r\n")
        self._depth = int(bool(rest))
        self._deaf = self._deaf or not rest.startswith("{"[: len(rest)])
        return len(piece) - len(rest) + self._depth

    def _string(self, piece: str, at: int) -> int:
        """Go on in a string; gives where to look on."""
        if self._escaped:
            self._escaped = False
            return at + 1
        mark = _IN_STRING.search(piece, at)
        if mark is None:
            return len(piece)
        self._escaped = mark[0] == "\\"
        self._in_string = self._escaped
        if not self._in_string:
            self._ends(piece, mark.end())
        return mark.end()

    def _structure(self, piece: str, at: int) -> int:
        """Go on outside of strings; gives where to look on."""
        mark = (_AT_TOP if self._depth == 1 else _DEEPER).search(piece, at)
        if mark is None:
            return len(piece)
        match mark[0]:
            case '"':
                self._in_string = True
            case ":":
                self._in_value = True
            case "{" | "[":
                self._depth += 1
            case "}" | "]" if self._depth > 1:
                self._depth -= 1
                self._ends(piece, mark.end())
            case delimiter:
                self._ends(piece, mark.start())
                self._deaf = self._deaf or delimiter != ","
                self._pieces.clear()
                self._begin = mark.end()
        return mark.end()

    def _ends(self, piece: str, end: int) -> None:
        """A part of the object ends here; if it is the value of a member, that is whole."""
        if self._depth > 1 or not self._in_value:
            return
        self._in_value = False
        text = "".join((*self._pieces, piece[self._begin : end]))
        try:
            self.members |= mapping(loads("{" + mended(text) + "}"))
        except ValueError:
            self._deaf = True
        self._pieces.clear()
        self._begin = end
