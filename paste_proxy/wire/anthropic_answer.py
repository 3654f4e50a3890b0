"""Reads the answers of a Messages endpoint, streamed or whole."""

from paste_proxy.events.values import Json
from paste_proxy.wire.anthropic_message import blocks, read_assistant
from paste_proxy.wire.anthropic_tooluse import Index, ToolUses
from paste_proxy.wire.digest import assistant_digest
from paste_proxy.wire.loose import count, mapping, mended, piece, read, string
from paste_proxy.wire.sse import SseEvent
from paste_proxy.wire.turn_end import turn_end
from paste_proxy.wire.types import Message, SeenCall, SeenPart, TurnEnd

_WHOLE = {"end_turn", "tool_use", "stop_sequence"}
"""Stop reasons of an answer that says all that the model would have said. A paused turn is none: the vendor's
own tools are still at work in it, and the client sends it back to be gone on with."""

_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""What the model read, newly and from the prompt cache: the vendor counts each token in one of them."""

_NOTHING = {b"", b"[DONE]"}


class MessageAnswer:
    """A streamed answer; see `stream.Answer`."""

    def __init__(self) -> None:
        self._uses = ToolUses()
        self._text: list[str] = []
        self._usage: dict[str, Json] = {}
        self._finish: str | None = None
        self._id = ""
        self._done = False
        self._broken = False

    def take(self, event: SseEvent) -> list[SeenCall]:
        """Go on with an event; the calls that it seals."""
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

    @property
    def response_id(self) -> str:
        """Its own id, empty until it has said so."""
        return self._id

    def under_way(self) -> list[SeenPart]:
        """The calls being written, where more is known of them."""
        return self._uses.under_way()

    def broke(self) -> None:
        """Events were lost: the turn is incomplete."""
        self._broken = True

    def end(self, *, clean: bool) -> TurnEnd:
        """The turn. It was whole if the stream said so, by message_stop or by a stop reason and a clean end."""
        ended = (self._done or (clean and self._finish is not None)) and not self._cut
        calls, identities, whole = self._uses.read()
        text = mended("".join(self._text))
        message = Message(role="assistant", text=text, digest=assistant_digest(text, identities), calls=calls)
        return turn_end(
            message, complete=ended and whole, finish=self._finish, tokens=_tokens(self._usage), response_id=self._id
        )

    @property
    def _cut(self) -> bool:
        return self._broken or (self._finish is not None and self._finish not in _WHOLE)

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


def whole_end(answer: dict[str, Json]) -> TurnEnd:
    """What an answer that was not streamed says."""
    message, whole = read_assistant(blocks(answer.get("content")))
    finish = string(answer.get("stop_reason")) or None
    complete = whole and finish in _WHOLE and not answer.get("error")
    tokens = _tokens(mapping(answer.get("usage")))
    return turn_end(message, complete=complete, finish=finish, tokens=tokens, response_id=string(answer.get("id")))


def _index(value: dict[str, Json]) -> Index:
    index = value.get("index")
    return index if isinstance(index, int | str) else None


def _tokens(usage: dict[str, Json]) -> tuple[int | None, int | None]:
    counts = [tokens for name in _READ if (tokens := count(usage.get(name))) is not None]
    return sum(counts) if counts else None, count(usage.get("output_tokens"))
