"""What a second, smaller LLM is told of a request: its opening, its latest messages, its tools, within a bound.

A small model has a short context, and what a call is made of mostly stands near the end. Long texts keep
their beginning and their end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from paste_proxy.events.values import Json, dumps, loads
from paste_proxy.wire.chat_tools import chat_tools, shortened
from paste_proxy.wire.loose import listing
from paste_proxy.wire.types import LlmRequest, Message

_INSTRUCTIONS = {"system", "developer"}
_SHARE_OF_TOOLS = 2
"""Tools may take one part in so many of the whole."""
_SHARE_OF_TEXT = 4
"""And so may one text."""
_DESCRIPTION = 160
_WORDY = 20
"""Tools described at more than so many times the room are not looked at."""
_END_SHARE = 4
"""One part in so many of a text that is cut is its end."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request cut to size."""

    messages: tuple[Message, ...]
    tools: tuple[dict[str, Json], ...]
    """In the form of Chat Completions."""
    characters: int
    """About how long all of it is."""


def prompt_of(request: LlmRequest, characters: int) -> Prompt | None:
    """What to tell of a request in so many characters.

    None for a side question, for a request without tools or with more than fit, and for one that goes on from
    an answer the vendor keeps: what was said before it is not known.
    """
    if request.utility or request.previous is not None or not request.messages:
        return None
    tools = _offered(request, characters // _SHARE_OF_TOOLS)
    if not tools:
        return None
    size = _size(tools)
    messages, spoken = _fitting(request.messages, characters - size, characters // _SHARE_OF_TEXT)
    return Prompt(messages, tools, size + spoken)


def _offered(request: LlmRequest, room: int) -> tuple[dict[str, Json], ...]:
    """The tools of a request, if they fit once they are told in short."""
    try:
        raw = dumps(request.offered)
    except ValueError:
        return ()
    return _fitting_tools(raw, room) if len(raw) <= _WORDY * room else ()


@lru_cache(maxsize=32)
def _fitting_tools(offered: bytes, room: int) -> tuple[dict[str, Json], ...]:
    """Kept, since an agent offers the same tools with every request."""
    tools = tuple(chat_tools(listing(loads(offered))))
    if _size(tools) > room:
        tools = tuple(shortened(tool, _DESCRIPTION) for tool in tools)
    return tools if _size(tools) <= room else ()


def _fitting(messages: Sequence[Message], room: int, longest: int) -> tuple[tuple[Message, ...], int]:
    """The opening and the latest messages that fit, and how long they are."""
    start = _opening(messages)
    opening = [_cut(message, longest) for message in messages[:start]]
    used = sum(map(_length, opening))
    latest: list[Message] = []
    for message in reversed(messages[start:]):
        message = _cut(message, longest)
        used += _length(message)
        if latest and used > room:
            used -= _length(message)
            break
        latest.append(message)
    return (*opening, *reversed(latest)), used


def _opening(messages: Sequence[Message]) -> int:
    """How many messages open the talk: the instructions and what the user first asked for."""
    start = 0
    while start < len(messages) and messages[start].role in _INSTRUCTIONS:
        start += 1
    return start + (start < len(messages) and messages[start].role == "user")


def _cut(message: Message, longest: int) -> Message:
    text = message.text
    if len(text) <= longest:
        return message
    end = longest // _END_SHARE
    left_out = len(text) - longest
    cut = f"{text[: longest - end]}\n[{left_out} characters left out]\n{text[len(text) - end :]}"
    return replace(message, text=cut, output=replace(message.output, output=cut) if message.output else None)


def _length(message: Message) -> int:
    return len(message.text) + sum(len(call.name) + _size(call.arguments) for call in message.calls)


def _size(value: object) -> int:
    return len(dumps(value))
