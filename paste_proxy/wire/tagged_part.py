"""What is known of a call written as text before its closing tag: JSON, its name before its arguments."""

import re
from collections.abc import Sequence

from paste_proxy.wire.call_part import CallPart
from paste_proxy.wire.types import SeenPart

_HEAD = re.compile(r'\s*\{\s*"name"\s*:\s*"([^"\\]+)"\s*,\s*"arguments"\s*:\s*(?=\{)')
_HEAD_PIECES = 128
"""A head not found in so many pieces is of another form."""


class BlockPart:
    """The call of one block; see `CallPart`."""

    def __init__(self) -> None:
        self._part = CallPart()
        self._name = ""
        self._arguments: list[str] = []
        self._taken = 0
        """Pieces of the block that have been looked at."""

    def of_block(self, order: int, pieces: Sequence[str]) -> SeenPart | None:
        """The call in a block of these pieces, if there is more to say of it."""
        if self._name:
            self._arguments += pieces[self._taken :]
        elif len(pieces) <= _HEAD_PIECES and (head := _HEAD.match(text := "".join(pieces))):
            self._name, self._arguments = head[1], [text[head.end() :]]
        self._taken = len(pieces)
        return self._part.of_text(order, self._name, self._arguments)
