"""Reads an answer that arrives as events, whatever its protocol makes of them."""

from typing import Protocol

from paste_proxy.wire.sse import SseDecoder, SseEvent
from paste_proxy.wire.types import SeenCall, SeenPart, TurnEnd


class Answer(Protocol):
    """One answer being put together from its events. Raises nothing."""

    def take(self, event: SseEvent) -> list[SeenCall]:
        """Go on with an event; the calls that it seals."""

    @property
    def response_id(self) -> str:
        """Its own id, empty until it has said so."""

    def under_way(self) -> list[SeenPart]:
        """The calls being written of which more is known than when this was asked last."""

    def broke(self) -> None:
        """Events were lost."""

    def end(self, *, clean: bool) -> TurnEnd:
        """There are no more events; `clean` is False if the connection broke before its end."""


class Events(Protocol):
    """Takes the body of an answer apart."""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events completed by these bytes."""

    def close(self) -> SseEvent | None:
        """The event that the body ended in, if it was not given before."""


class StreamReader:
    """Gives the calls of an answer as its events seal them.

    Args:
        max_bytes: size of the largest answer that is read; beyond it the reader is deaf and the answer broken.
        answer: where the events go.
        events: takes the body apart; None for an event stream.
    """

    def __init__(self, max_bytes: int, answer: Answer, events: Events | None = None) -> None:
        self._left = max_bytes
        self._answer = answer
        self._events = events or SseDecoder(max_bytes)

    def feed(self, chunk: bytes) -> list[SeenCall]:
        """Take the next bytes; give the calls sealed by them."""
        self._left -= len(chunk)
        if self._left < 0:
            self._answer.broke()
            return []
        return [call for event in self._events.feed(chunk) for call in self._answer.take(event)]

    @property
    def response_id(self) -> str:
        """Its own id, empty until it has said so."""
        return self._answer.response_id

    def under_way(self) -> list[SeenPart]:
        """The calls being written, where more is known of them."""
        return self._answer.under_way()

    def close(self, *, clean: bool) -> TurnEnd:
        """The body is over."""
        last = self._events.close()
        if last is not None:
            self._answer.take(last)
        return self._answer.end(clean=clean)
