"""Reads the answers of a Responses endpoint, streamed or whole.

A stream tells an item several times: as it is added, by deltas, when a field is done, when it is done
itself. Servers leave out some of these, make up ids per event, or give several items one `output_index`,
so an item is found by whatever of it is known. A call is sealed by the first event that says it is
whole; a turn is complete only if the stream says so in words.
"""

from dataclasses import replace

from paste_proxy.events.values import Json
from paste_proxy.wire.loose import count, listing, mapping, read, string
from paste_proxy.wire.responses_items import read_turn
from paste_proxy.wire.responses_slots import ItemSlots
from paste_proxy.wire.sse import SseEvent
from paste_proxy.wire.turn_end import turn_end
from paste_proxy.wire.types import Message, SeenCall, SeenPart, TurnEnd

_ENDS = {"response.completed", "response.done", "response.incomplete", "response.failed"}
_COMPLETED = {"completed", "done"}
_UNDER_WAY = {"queued", "in_progress"}


class ResponseAnswer:
    """A streamed answer; see `stream.Answer`."""

    def __init__(self) -> None:
        self._slots = ItemSlots()
        self._response: dict[str, Json] = {}
        self._finished = False
        self._completed = False
        self._broken = False

    def take(self, event: SseEvent) -> list[SeenCall]:
        """Go on with an event; the calls that it seals."""
        fields = mapping(read(event.data))
        kind = string(fields.get("type")) or event.event
        if self._finished:
            return []
        if kind == "error" or fields.get("error"):
            self._broken = True
        if self._broken:
            return []
        if response := mapping(fields.get("response")):
            self._response = response
        if kind in _ENDS:
            return self._ended(kind.partition(".")[2])
        return self._slots.take(kind, fields)

    @property
    def response_id(self) -> str:
        """Its own id, empty until it has said so."""
        return string(self._response.get("id"))

    def under_way(self) -> list[SeenPart]:
        """The calls being written, where more is known of them."""
        return [] if self._finished or self._broken else self._slots.under_way()

    def broke(self) -> None:
        """Events were lost: none that follows is read."""
        self._broken = True

    def end(self, *, clean: bool) -> TurnEnd:
        """The turn. Clients close a stream themselves once they have read its end, so that `clean` says nothing."""
        message, whole = self._slots.end()
        return _end(self._response, message, self._completed and whole)

    def _ended(self, kind: str) -> list[SeenCall]:
        self._finished = True
        self._response = {"status": kind, **self._response}
        self._completed = kind in _COMPLETED and _completed(self._response)
        return self._slots.seal(listing(self._response.get("output"))) if self._completed else []


def whole_end(response: dict[str, Json]) -> TurnEnd:
    """What an answer that was not streamed says."""
    output = response.get("output")
    message, whole = read_turn(map(mapping, listing(output)))
    complete = isinstance(output, list) and _completed(response) and whole
    return replace(_end(response, message, complete), unread=bool(message.calls) and not complete)


def _completed(response: dict[str, Json]) -> bool:
    """Not queued for later, cut or failed."""
    return string(response.get("status")) in {*_COMPLETED, ""} and not response.get("error")


def _end(response: dict[str, Json], message: Message, complete: bool) -> TurnEnd:
    usage = mapping(response.get("usage"))
    status = string(response.get("status"))
    reason = string(mapping(response.get("incomplete_details")).get("reason"))
    return turn_end(
        message,
        complete=complete,
        finish=reason or (None if status in _UNDER_WAY else status) or None,
        tokens=(count(usage.get("input_tokens")), count(usage.get("output_tokens"))),
        response_id=string(response.get("id")),
    )
