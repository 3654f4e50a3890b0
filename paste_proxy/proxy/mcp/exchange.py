"""A request of a client that waits for its response."""

from collections.abc import Callable
from dataclasses import dataclass

from paste_proxy.wire.jsonrpc import Response


class Exchange:
    """Told its end once; later ends count nothing."""

    def __init__(self, id_raw: bytes, end: Callable[[Response | None], None]) -> None:
        self.id_raw = id_raw
        self._end: Callable[[Response | None], None] | None = end

    def over(self, response: Response | None) -> None:
        """The response came; None: it cannot come any more."""
        end, self._end = self._end, None
        if end is not None:
            end(response)


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The client cancelled the call before it was decided: it is neither run nor answered."""
