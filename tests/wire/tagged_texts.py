"""Answers whose calls are text, for tests: how they are written and read."""

import json
from collections.abc import Iterable
from typing import Any

from paste_proxy.wire.tagged_text import TaggedText
from paste_proxy.wire.types import LlmRequest, SeenCall, TurnEnd
from tests.wire.reading import JSON, answered_by, request_of
from tests.wire.streams import delta, sse

TARGET = "/v1/chat/completions"
FIRST, ALL = TaggedText(), TaggedText(first_only=False)


def block(name: str, arguments: Any) -> str:
    """A call as models write it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"


def streamed(pieces: Iterable[str], finish: str | None = "stop", *, done: bool = True) -> bytes:
    """A stream with one delta a piece."""
    return sse(*(delta(content=piece) for piece in pieces), *([delta(finish)] if finish else []), done=done)


def whole(content: Any, finish: str = "stop", **fields: Any) -> bytes:
    """An answer that is not streamed."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    return json.dumps({"id": "c1", "choices": [choice], "usage": usage, **fields}).encode()


def said(text: str, wire: TaggedText = FIRST, finish: str = "stop") -> tuple[list[SeenCall], TurnEnd]:
    """What the wire makes of a text, streamed a character at a time; not streamed it must make the same of it."""
    seen, end = answered_by(wire, [streamed(text, finish)])
    _, at_once = answered_by(wire, [whole(text, finish)], content_type=JSON)
    told = (end.text, end.calls, end.digest, end.complete)
    assert told == (at_once.text, at_once.calls, at_once.digest, at_once.complete)
    return seen, end


def request(*messages: tuple[str, Any], wire: TaggedText = FIRST, **fields: Any) -> LlmRequest:
    """A request with those roles and contents."""
    told = [{"role": role, "content": content} for role, content in messages]
    return request_of(wire, {"model": "m", "messages": told, **fields}, TARGET)
