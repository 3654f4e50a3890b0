"""Reads an answer that is one JSON object, not a stream."""

from collections.abc import Callable
from dataclasses import replace

from paste_proxy.events.values import Json
from paste_proxy.wire.balance import BalanceScanner
from paste_proxy.wire.loose import mapping, read
from paste_proxy.wire.types import SeenCall, SeenPart, TurnEnd


class WholeReader:
    """Gives the calls of an answer with its last byte: a client may act before the connection says that it is over.

    Args:
        max_bytes: size of the largest answer that is kept to be read.
        end: what an answer says; an empty one is no complete turn.
        complete_only: the calls of an incomplete turn are not given; False where the protocol seals each call by
            itself.
    """

    def __init__(
        self, max_bytes: int, end: Callable[[dict[str, Json]], TurnEnd], *, complete_only: bool = True
    ) -> None:
        self._left = max_bytes
        self._end, self._complete_only = end, complete_only
        self._chunks: list[bytes] = []
        self._scanner = BalanceScanner()

    def feed(self, chunk: bytes) -> list[SeenCall]:
        """Keep the next bytes; give the calls of the turn when they close the object."""
        self._left -= len(chunk)
        if self._left < 0:
            self._chunks.clear()
            return []
        self._chunks.append(chunk)
        before = self._scanner.balanced
        self._scanner.feed(chunk.decode("latin-1"))
        if before or not self._scanner.balanced:
            return []
        end = self._read()
        return list(end.calls) if end.complete or not self._complete_only else []

    @property
    def response_id(self) -> str:
        """Empty: the answer is read when it is whole."""
        return ""

    def under_way(self) -> list[SeenPart]:
        """None: the answer is read when it is whole."""
        return []

    def close(self, *, clean: bool) -> TurnEnd:
        """The body is over."""
        end = self._read()
        return replace(end, complete=end.complete and clean)

    def _read(self) -> TurnEnd:
        return self._end(mapping(read(b"".join(self._chunks))))
