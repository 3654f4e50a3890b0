"""Reads the answers of a Chat Completions endpoint, streamed or whole.

Only the first choice is read. A call's completeness is decided by its arguments, never by the finish
reason, which servers get wrong; but an answer that ended for length is never complete.
"""

from collections.abc import Callable

from paste_proxy.events.values import Json
from paste_proxy.wire.loose import count, listing, mapping, read, string
from paste_proxy.wire.openai_turn import TurnParts
from paste_proxy.wire.sse import SseEvent
from paste_proxy.wire.turn_end import turn_end
from paste_proxy.wire.types import Message, SeenCall, SeenPart, TurnEnd

_CUT = {"length", "max_tokens", "content_filter", "error"}
"""Finish reasons of an answer that is less than what the model would have said."""


class ChatAnswer:
    """A streamed answer; see `stream.Answer`.

    Args:
        turn: where its deltas are put together.
    """

    def __init__(self, turn: TurnParts) -> None:
        self._turn = turn
        self._usage: dict[str, Json] = {}
        self._finish: str | None = None
        self._id = ""
        self._done = False
        self._broken = False
        self._several = False
        """There are further choices, and nobody knows which one is taken."""

    def take(self, event: SseEvent) -> list[SeenCall]:
        """Go on with an event; the calls that it seals."""
        if event.data.strip() == b"[DONE]":
            self._done = True
            return [] if self._cut else self._turn.seal()
        chunk = mapping(read(event.data))
        if event.event == "error" or chunk.get("error"):
            self._broken = True
            return []
        self._id = self._id or string(chunk.get("id"))
        self._usage = mapping(chunk.get("usage")) or self._usage
        choices = [mapping(choice) for choice in listing(chunk.get("choices"))]
        self._several = self._several or any(choice.get("index") for choice in choices)
        return [call for choice in choices if not choice.get("index") for call in self._choice(choice)]

    @property
    def response_id(self) -> str:
        """Its own id, empty until it has said so."""
        return self._id

    def under_way(self) -> list[SeenPart]:
        """The calls being written, where more is known of them."""
        return self._turn.under_way()

    def broke(self) -> None:
        """Events were lost: the turn is incomplete."""
        self._broken = True

    def end(self, *, clean: bool) -> TurnEnd:
        """The turn. It was whole if the stream said so, by [DONE] or by a finish reason and a clean end."""
        ended = (self._done or (clean and self._finish is not None)) and not self._cut and not self._several
        message, whole = self._turn.end()
        return turn_end(
            message,
            complete=ended and whole,
            finish=self._finish,
            tokens=_tokens(self._usage),
            response_id=self._id,
            unread=self._several,
        )

    @property
    def _cut(self) -> bool:
        return self._broken or self._finish in _CUT

    def _choice(self, choice: dict[str, Json]) -> list[SeenCall]:
        sealed = self._turn.take(mapping(choice.get("delta")))
        if finish := string(choice.get("finish_reason")):
            self._finish = finish
            if not self._cut:
                sealed += self._turn.seal()
        return sealed


def whole_end(answer: dict[str, Json], read_assistant: Callable[[dict[str, Json]], tuple[Message, bool]]) -> TurnEnd:
    """What an answer that was not streamed says.

    Args:
        read_assistant: reads its message, and whether all calls of it are whole.
    """
    choices = [mapping(choice) for choice in listing(answer.get("choices"))]
    choice = next((choice for choice in choices if not choice.get("index")), {})
    fields = mapping(choice.get("message"))
    message, whole = read_assistant(fields)
    finish = string(choice.get("finish_reason")) or None
    complete = bool(fields) and whole and len(choices) == 1 and finish not in _CUT and not answer.get("error")
    tokens = _tokens(mapping(answer.get("usage")))
    unread = len(choices) > 1 or (bool(message.calls) and not complete)
    response_id = string(answer.get("id"))
    return turn_end(message, complete=complete, finish=finish, tokens=tokens, response_id=response_id, unread=unread)


def _tokens(usage: dict[str, Json]) -> tuple[int | None, int | None]:
    return count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
