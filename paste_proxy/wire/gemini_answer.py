"""Reads the answers of generateContent and streamGenerateContent.

Every event of a stream, every element of a JSON array and a single JSON object are the same: one
GenerateContentResponse. Only the first candidate is read. The protocol has no last word: an answer is whole if
it said STOP and the body came to its end.
"""

from typing import Protocol

from paste_proxy.events.values import Json
from paste_proxy.wire.gemini_fields import field_of, parts_of
from paste_proxy.wire.gemini_turn import ModelTurn
from paste_proxy.wire.loose import count, listing, mapping, read, string
from paste_proxy.wire.objectstream import ObjectDecoder
from paste_proxy.wire.sse import SseDecoder
from paste_proxy.wire.types import SeenCall, TurnEnd

_STOP = "STOP"
_UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"
_NOTHING = {b"", b"[DONE]"}


class _Responses(Protocol):
    def feed(self, chunk: bytes) -> list[bytes]: ...
    def close(self) -> list[bytes]: ...


class Events:
    """Responses as events of a stream.

    Args:
        max_bytes: size of the largest event that is kept.
    """

    def __init__(self, max_bytes: int) -> None:
        self._events = SseDecoder(max_bytes)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The responses completed by these bytes."""
        return [event.data for event in self._events.feed(chunk)]

    def close(self) -> list[bytes]:
        """The response that the stream ended in."""
        last = self._events.close()
        return [last.data] if last else []


class Objects(ObjectDecoder):
    """Responses as the elements of a JSON array, or the one object of a body."""

    def close(self) -> list[bytes]:
        """Nothing: what is not whole by then never will be."""
        return []


class Reader:
    """Reads one answer.

    Args:
        responses: takes the body apart.
        max_bytes: size of the largest answer that is read; beyond it the reader is deaf and the turn
            incomplete.
    """

    def __init__(self, responses: _Responses, max_bytes: int) -> None:
        self._responses = responses
        self._left = max_bytes
        self._turn = ModelTurn()
        self._usage: dict[str, Json] = {}
        self._finish: str | None = None
        self._id = ""
        self._broken = False

    def feed(self, chunk: bytes) -> list[SeenCall]:
        """Take the next bytes; give the calls sealed by them."""
        self._left -= len(chunk)
        if self._left < 0:
            self._broken = True
            return []
        return [call for body in self._responses.feed(chunk) for call in self._response(body)]

    def close(self, *, clean: bool) -> TurnEnd:
        """The body is over."""
        for body in self._responses.close():
            self._response(body)
        message = self._turn.message()
        whole = self._turn.whole and self._turn.ended
        return TurnEnd(
            text=message.text,
            calls=message.calls,
            complete=clean and whole and self._finish == _STOP and not self._broken,
            finish=self._finish,
            input_tokens=count(field_of(self._usage, "promptTokenCount")),
            output_tokens=self._tokens_written(),
            digest=message.digest,
            response_id=self._id,
        )

    def _response(self, body: bytes) -> list[SeenCall]:
        value = read(body)
        if not isinstance(value, dict):
            self._broken = self._broken or body.strip() not in _NOTHING
            return []
        self._broken = self._broken or bool(value.get("error"))
        response = mapping(value.get("response")) or value
        self._id = self._id or string(field_of(response, "responseId")) or string(field_of(value, "traceId"))
        self._usage = mapping(field_of(response, "usageMetadata")) or self._usage
        if blocked := string(field_of(mapping(field_of(response, "promptFeedback")), "blockReason")):
            self._finish = blocked
        candidates = (mapping(candidate) for candidate in listing(response.get("candidates")))
        return [call for candidate in candidates if not candidate.get("index") for call in self._candidate(candidate)]

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
