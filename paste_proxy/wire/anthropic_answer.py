"""Reads the answers of a Messages endpoint, streamed or whole."""

from paste_proxy.events.values import Json
from paste_proxy.wire.anthropic_message import blocks, read_assistant
from paste_proxy.wire.anthropic_tooluse import Index, ToolUses
from paste_proxy.wire.digest import assistant_digest
from paste_proxy.wire.loose import count, mapping, mended, piece, read, string
from paste_proxy.wire.objectstream import ObjectDecoder
from paste_proxy.wire.sse import SseDecoder, SseEvent
from paste_proxy.wire.types import SeenCall, TurnEnd

_WHOLE = {"end_turn", "tool_use", "stop_sequence"}
"""Stop reasons of an answer that says all that the model would have said. A paused turn is none: the vendor's
own tools are still at work in it, and the client sends it back to be gone on with."""

_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""What the model read, newly and from the prompt cache: the vendor counts each token in one of them."""

_NOTHING = {b"", b"[DONE]"}


class StreamReader:
    """Reads an event stream.

    Args:
        max_bytes: size of the largest answer that is read; beyond it the reader is deaf and the turn
            incomplete.
    """

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._events = SseDecoder(max_bytes)
        self._uses = ToolUses()
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
        """The stream is over. It was whole if it said so, by message_stop or by a stop reason and a clean end."""
        last = self._events.close()
        if last is not None:
            self._event(last)
        ended = self._done or (clean and self._finish is not None)
        calls, identities, whole = self._uses.read()
        text = mended("".join(self._text))
        return TurnEnd(
            text=text,
            calls=calls,
            complete=ended and whole and not self._cut,
            finish=self._finish,
            input_tokens=_tokens_read(self._usage),
            output_tokens=count(self._usage.get("output_tokens")),
            digest=assistant_digest(text, identities),
            response_id=self._id,
        )

    @property
    def _cut(self) -> bool:
        return self._broken or (self._finish is not None and self._finish not in _WHOLE)

    def _event(self, event: SseEvent) -> list[SeenCall]:
        value = read(event.data)
        if not isinstance(value, dict):
            self._broken = self._broken or event.data.strip() not in _NOTHING
            return []
        match string(value.get("type")) or event.event:
            case "message_start":
                message = mapping(value.get("message"))
                self._id = string(message.get("id"))
                self._count(message.get("usage"))
            case "content_block_start":
                block = mapping(value.get("content_block"))
                self._text.append(piece(block.get("text")) if block.get("type") == "text" else "")
                return self._uses.begin(_index(value), block)
            case "content_block_delta":
                self._delta(_index(value), mapping(value.get("delta")))
            case "content_block_stop":
                return self._uses.stop(_index(value))
            case "message_delta":
                self._finish = string(mapping(value.get("delta")).get("stop_reason")) or self._finish
                self._count(value.get("usage"))
                return self._uses.end(cut=self._cut) if self._finish else []
            case "message_stop":
                self._done = True
                return self._uses.end(cut=self._cut)
            case "error":
                self._broken = True
        return []

    def _delta(self, index: Index, delta: dict[str, Json]) -> None:
        """Go on with a block. Signatures, citations and whatever the vendor adds next say nothing here."""
        match delta.get("type"):
            case "text_delta":
                self._text.append(piece(delta.get("text")))
            case "input_json_delta":
                known = self._uses.add(index, piece(delta.get("partial_json")))
                self._broken = self._broken or not known

    def _count(self, usage: Json) -> None:
        self._usage |= {name: tokens for name, tokens in mapping(usage).items() if tokens is not None}


class WholeReader:
    """Reads an answer that is one JSON object; its calls are given with its last byte.

    Args:
        max_bytes: size of the largest answer that is kept to be read.
    """

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._objects = ObjectDecoder()
        self._answer: dict[str, Json] = {}
        self._message, self._whole = read_assistant([])

    def feed(self, chunk: bytes) -> list[SeenCall]:
        """Take the next bytes; give the calls of the answer that ends with them."""
        self._left -= len(chunk)
        if self._left < 0:
            self._whole = False
            return []
        return [call for body in self._objects.feed(chunk) for call in self._read(body)]

    def close(self, *, clean: bool) -> TurnEnd:
        """The body is over."""
        usage = mapping(self._answer.get("usage"))
        return TurnEnd(
            text=self._message.text,
            calls=self._message.calls,
            complete=clean and self._whole and self._finish in _WHOLE and not self._answer.get("error"),
            finish=self._finish,
            input_tokens=_tokens_read(usage),
            output_tokens=count(usage.get("output_tokens")),
            digest=self._message.digest,
            response_id=string(self._answer.get("id")),
        )

    @property
    def _finish(self) -> str | None:
        return string(self._answer.get("stop_reason")) or None

    def _read(self, body: bytes) -> tuple[SeenCall, ...]:
        self._answer = mapping(read(body))
        self._message, self._whole = read_assistant(blocks(self._answer.get("content")))
        return self._message.calls


def _index(value: dict[str, Json]) -> Index:
    index = value.get("index")
    return index if isinstance(index, int | str) else None


def _tokens_read(usage: dict[str, Json]) -> int | None:
    counts = [tokens for name in _READ if (tokens := count(usage.get(name))) is not None]
    return sum(counts) if counts else None
