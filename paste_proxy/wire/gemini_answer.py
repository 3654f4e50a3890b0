"""Reads the answers of generateContent and streamGenerateContent.

Every event of a stream, every element of a JSON array and a single JSON object are the same: one
GenerateContentResponse. Only the first candidate is read. The protocol has no last word: an answer is whole if
it said STOP and the body came to its end.
"""

from paste_proxy.events.values import Json
from paste_proxy.wire.gemini_fields import field_of, parts_of
from paste_proxy.wire.gemini_turn import ModelTurn
from paste_proxy.wire.loose import count, listing, mapping, read, string
from paste_proxy.wire.objectstream import ObjectDecoder
from paste_proxy.wire.sse import SseEvent
from paste_proxy.wire.turn_end import turn_end
from paste_proxy.wire.types import SeenCall, SeenPart, TurnEnd

_STOP = "STOP"
_UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"
_NOTHING = {b"", b"[DONE]"}


class Objects:
    """The elements of a JSON array, or the one object of a body, as the events of a stream."""

    def __init__(self) -> None:
        self._objects = ObjectDecoder()

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The responses completed by these bytes."""
        return [SseEvent("message", body) for body in self._objects.feed(chunk)]

    def close(self) -> None:
        """Nothing: what is not whole by then never will be."""


class GeminiAnswer:
    """An answer; see `stream.Answer`. With several candidates it is incomplete: nobody knows which one is taken."""

    def __init__(self) -> None:
        self._turn = ModelTurn()
        self._usage: dict[str, Json] = {}
        self._finish: str | None = None
        self._id = ""
        self._broken = False
        self._several = False

    def take(self, event: SseEvent) -> list[SeenCall]:
        """Go on with a response; the calls that it seals."""
        value = read(event.data)
        if not isinstance(value, dict):
            self._broken = self._broken or event.data.strip() not in _NOTHING
            return []
        self._broken = self._broken or bool(value.get("error"))
        response = mapping(value.get("response")) or value
        self._id = self._id or string(field_of(response, "responseId")) or string(field_of(value, "traceId"))
        self._usage = mapping(field_of(response, "usageMetadata")) or self._usage
        if blocked := string(field_of(mapping(field_of(response, "promptFeedback")), "blockReason")):
            self._finish = blocked
        candidates = [mapping(candidate) for candidate in listing(response.get("candidates"))]
        self._several = self._several or any(candidate.get("index") for candidate in candidates)
        return [call for candidate in candidates if not candidate.get("index") for call in self._candidate(candidate)]

    @property
    def response_id(self) -> str:
        """Its own id, empty until it has said so."""
        return self._id

    def under_way(self) -> list[SeenPart]:
        """The call being written, where more is known of it."""
        return self._turn.under_way()

    def broke(self) -> None:
        """Events were lost: the turn is incomplete."""
        self._broken = True

    def end(self, *, clean: bool) -> TurnEnd:
        """The turn."""
        whole = self._turn.whole and self._turn.ended
        return turn_end(
            self._turn.message(),
            complete=clean and whole and self._finish == _STOP and not self._broken and not self._several,
            finish=self._finish,
            tokens=(count(field_of(self._usage, "promptTokenCount")), self._tokens_written()),
            response_id=self._id,
            unread=self._several,
        )

    def _candidate(self, candidate: dict[str, Json]) -> list[SeenCall]:
        sealed = self._turn.take(parts_of(candidate.get("content")))
        finish = string(field_of(candidate, "finishReason"))
        if finish and finish != _UNSPECIFIED:
            self._finish = finish
        return sealed + self._turn.seal() if finish == _STOP else sealed

    def _tokens_written(self) -> int | None:
        """Answer and thoughts; the vendor counts them apart."""
        fields = ("candidatesTokenCount", "thoughtsTokenCount")
        counts = [tokens for name in fields if (tokens := count(field_of(self._usage, name))) is not None]
        return sum(counts) if counts else None
