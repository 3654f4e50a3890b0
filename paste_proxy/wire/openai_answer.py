"""Reads the answers of a Chat Completions endpoint, streamed or whole.

Only the first choice is read. A call's completeness is decided by its arguments, never by the finish
reason, which servers get wrong; but an answer that ended for length is never complete.
"""

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import assistant_digest
from paste_proxy.wire.loose import count, listing, mapping, mended, read, string
from paste_proxy.wire.openai_message import read_assistant, text_of
from paste_proxy.wire.sse import SseDecoder, SseEvent
from paste_proxy.wire.toolslots import ToolSlots, read_fragment
from paste_proxy.wire.types import SeenCall, TurnEnd

_CUT = {"length", "max_tokens", "content_filter", "error"}
"""Finish reasons of an answer that is less than what the model would have said."""


class StreamReader:
    """Reads an event stream.

    Args:
        max_bytes: size of the largest answer that is read; beyond it the reader is deaf and the turn
            incomplete.
    """

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._events = SseDecoder(max_bytes)
        self._slots = ToolSlots()
        self._text: list[str] = []
        self._usage: dict[str, Json] = {}
        self._finish: str | None = None
        self._id = ""
        self._done = False
        self._broken = False

    def feed(self, chunk: bytes) -> list[SeenCall]:
        """Take the next bytes; give the calls sealed by them."""
        self._left -= len(chunk)
        if self._left < 0:
            self._broken = True
            return []
        return [call for event in self._events.feed(chunk) for call in self._event(event)]

    def close(self, *, clean: bool) -> TurnEnd:
        """The stream is over. It was whole if it said so, by [DONE] or by a finish reason and a clean end."""
        last = self._events.close()
        if last is not None:
            self._event(last)
        ended = (self._done or (clean and self._finish is not None)) and not self._cut
        calls, identities, whole = self._slots.end()
        text = mended("".join(self._text))
        return TurnEnd(
            text=text,
            calls=calls,
            complete=ended and whole,
            finish=self._finish,
            input_tokens=count(self._usage.get("prompt_tokens")),
            output_tokens=count(self._usage.get("completion_tokens")),
            digest=assistant_digest(text, identities),
            response_id=self._id,
        )

    @property
    def _cut(self) -> bool:
        return self._broken or self._finish in _CUT

    def _event(self, event: SseEvent) -> list[SeenCall]:
        if event.data.strip() == b"[DONE]":
            self._done = True
            return [] if self._cut else self._slots.seal()
        chunk = mapping(read(event.data))
        if event.event == "error" or chunk.get("error"):
            self._broken = True
            return []
        self._id = self._id or string(chunk.get("id"))
        self._usage = mapping(chunk.get("usage")) or self._usage
        choices = (mapping(choice) for choice in listing(chunk.get("choices")))
        return [call for choice in choices if not choice.get("index") for call in self._choice(choice)]

    def _choice(self, choice: dict[str, Json]) -> list[SeenCall]:
        delta = mapping(choice.get("delta"))
        if text := text_of(delta.get("content")):
            self._text.append(text)
        entries = listing(delta.get("tool_calls"))
        if legacy := mapping(delta.get("function_call")):
            entries = [*entries, {"index": "function_call", "function": legacy}]
        sealed = [call for entry in entries for call in self._slots.take(read_fragment(entry))]
        if finish := string(choice.get("finish_reason")):
            self._finish = finish
            if not self._cut:
                sealed += self._slots.seal()
        return sealed


class WholeReader:
    """Reads an answer that is one JSON object; its calls are known at its end only.

    Args:
        max_bytes: size of the largest answer that is kept to be read.
    """

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._chunks: list[bytes] = []

    def feed(self, chunk: bytes) -> list[SeenCall]:
        """Keep the next bytes; gives nothing."""
        self._left -= len(chunk)
        if self._left >= 0:
            self._chunks.append(chunk)
        else:
            self._chunks.clear()
        return []

    def close(self, *, clean: bool) -> TurnEnd:
        """The body is over."""
        answer = mapping(read(b"".join(self._chunks)))
        choices = (mapping(choice) for choice in listing(answer.get("choices")))
        choice = next((choice for choice in choices if not choice.get("index")), {})
        fields = mapping(choice.get("message"))
        message, whole = read_assistant(fields)
        usage = mapping(answer.get("usage"))
        finish = string(choice.get("finish_reason")) or None
        return TurnEnd(
            text=message.text,
            calls=message.calls,
            complete=clean and bool(fields) and whole and finish not in _CUT and not answer.get("error"),
            finish=finish,
            input_tokens=count(usage.get("prompt_tokens")),
            output_tokens=count(usage.get("completion_tokens")),
            digest=message.digest,
            response_id=string(answer.get("id")),
        )
