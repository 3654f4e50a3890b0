"""A Chat Completions turn put together from the deltas of its stream."""

from typing import Protocol

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import assistant_digest
from paste_proxy.wire.loose import listing, mapping, mended
from paste_proxy.wire.openai_message import text_of
from paste_proxy.wire.toolslots import ToolSlots, read_fragment
from paste_proxy.wire.types import Message, SeenCall, SeenPart


class TurnParts(Protocol):
    """Where the deltas of one answer go."""

    def take(self, delta: dict[str, Json]) -> list[SeenCall]:
        """Go on with a delta; the calls that it seals."""

    def under_way(self) -> list[SeenPart]:
        """The calls being written of which more is known than when this was asked last."""

    def seal(self) -> list[SeenCall]:
        """The answer is over: the calls that its end seals."""

    def end(self) -> tuple[Message, bool]:
        """The turn as its echo will be read, with the calls that were given only; whether all calls are whole."""


class ChatTurn:
    """Calls stand in `tool_calls`, text in `content`."""

    def __init__(self) -> None:
        self._slots = ToolSlots()
        self._text: list[str] = []

    def take(self, delta: dict[str, Json]) -> list[SeenCall]:
        """Go on with a delta; the calls that it seals."""
        if text := text_of(delta.get("content")):
            self._text.append(text)
        entries = listing(delta.get("tool_calls"))
        if legacy := mapping(delta.get("function_call")):
            entries = [*entries, {"index": "function_call", "function": legacy}]
        return [call for entry in entries for call in self._slots.take(read_fragment(entry))]

    def under_way(self) -> list[SeenPart]:
        """The call being written, where more is known of it."""
        return self._slots.under_way()

    def seal(self) -> list[SeenCall]:
        """The calls not given before."""
        return self._slots.seal()

    def end(self) -> tuple[Message, bool]:
        """The turn, and whether all its calls are whole."""
        calls, identities, whole = self._slots.end()
        text = mended("".join(self._text))
        return Message(role="assistant", text=text, digest=assistant_digest(text, identities), calls=calls), whole
