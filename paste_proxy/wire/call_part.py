"""What is known of one call while it is being written: its name, and which of its arguments are whole."""

from collections.abc import Sequence

from paste_proxy.events.values import Json
from paste_proxy.wire.members import MemberReader
from paste_proxy.wire.types import SeenPart

_MOST_ARGUMENTS = 32
"""A call of which so much is known needs no closer look before it is whole."""


class CallPart:
    """Reads arguments only when it is asked, and gives a part only when it says more than the last."""

    def __init__(self) -> None:
        self._reader = MemberReader()
        self._read = 0
        """Pieces read."""
        self._given = -1
        """Arguments in the part given last."""

    def of_text(self, order: int, name: str, pieces: Sequence[str]) -> SeenPart | None:
        """The call whose arguments come as these pieces of JSON, if there is more to say of it.

        Args:
            pieces: all so far; those read before are not looked at again.
        """
        for piece in pieces[self._read :] if self._given < _MOST_ARGUMENTS else ():
            self._reader.feed(piece)
        self._read = len(pieces)
        return self.of(order, name, self._reader.members)

    def of(self, order: int, name: str, arguments: dict[str, Json]) -> SeenPart | None:
        """The call with these arguments, if there is more to say of it."""
        if not name or not self._given < len(arguments) or self._given >= _MOST_ARGUMENTS:
            return None
        self._given = len(arguments)
        return SeenPart(order=order, name=name, arguments=dict(arguments))
