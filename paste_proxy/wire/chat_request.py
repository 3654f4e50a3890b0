"""A history that any wire brought, as the messages of a Chat Completions request.

Small servers' chat templates are strict: instructions only at the beginning, every call answered by exactly
one result, no two messages of the user in a row. What the wire left unpaired is mended or left out.
"""

from collections.abc import Callable, Iterable

from paste_proxy.events.values import Json, canonical_text
from paste_proxy.wire.loose import mended
from paste_proxy.wire.types import Message, SeenCall

_INSTRUCTIONS = {"system", "developer"}
_SPOKEN = {"user", "assistant", *_INSTRUCTIONS}
_NO_RESULT = "(no result)"

Shown = Callable[[SeenCall], bool]
"""Whether a call and what it answered may be told."""


def chat_messages(messages: Iterable[Message], shown: Shown = lambda _: True) -> list[Json]:
    """The messages in the form of Chat Completions, without the calls that are not shown and their results.

    A result whose call is not among the messages is left out: nobody can tell what tool it is of.
    """
    writing = _Writing()
    for message in messages:
        if message.output is not None:
            writing.result(message.output.call_id, message.text)
        elif message.role == "assistant":
            writing.turn(message.text, [call for call in message.calls if shown(call)])
        elif message.role in _SPOKEN and message.text:
            writing.said(message.role, message.text)
    writing.answer_all()
    return writing.messages


class _Writing:
    """The messages so far."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self._open: list[tuple[str, str]] = []
        """Calls of the latest turn without a result: their own id and the one written."""
        self._calls = 0
        self._last: dict[str, Json] = {}

    def said(self, role: str, text: str) -> None:
        """Instructions or words of the user; instructions that come late are said by the user."""
        self.answer_all()
        first = all(isinstance(one, dict) and one.get("role") == "system" for one in self.messages)
        role = "system" if role in _INSTRUCTIONS and first else "user"
        before = self._last.get("content")
        if self._last.get("role") == role and isinstance(before, str):
            self._last["content"] = f"{before}\n\n{mended(text)}"
        else:
            self._add({"role": role, "content": mended(text)})

    def turn(self, text: str, calls: list[SeenCall]) -> None:
        """A turn of the agent's LLM."""
        self.answer_all()
        written: list[Json] = []
        for call in calls:
            self._calls += 1
            number = f"call_{self._calls}"
            self._open.append((call.call_id, number))
            function: Json = {"name": mended(call.name), "arguments": mended(canonical_text(call.arguments))}
            written.append({"id": number, "type": "function", "function": function})
        if written:
            self._add({"role": "assistant", "content": mended(text) or None, "tool_calls": written})
        elif text:
            self._add({"role": "assistant", "content": mended(text)})

    def result(self, call_id: str, text: str) -> None:
        """The result of one of the latest turn's calls."""
        found = next((one for one in self._open if one[0] == call_id), None)
        if found is not None:
            self._open.remove(found)
            self._add({"role": "tool", "tool_call_id": found[1], "content": mended(text)})

    def answer_all(self) -> None:
        """Nothing more will answer the calls that are open."""
        for _, number in self._open:
            self._add({"role": "tool", "tool_call_id": number, "content": _NO_RESULT})
        self._open.clear()

    def _add(self, message: dict[str, Json]) -> None:
        self.messages.append(message)
        self._last = message
