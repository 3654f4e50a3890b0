"""Streams of the Messages API for tests: how they are written."""

import json
from typing import Any

PING = {"type": "ping"}
STOP = {"type": "message_stop"}


def events(*values: Any, end: bytes = b"\n\n") -> bytes:
    """A stream of these events."""
    line = end[: len(end) // 2]
    return b"".join(
        b"event: " + value["type"].encode() + line + b"data: " + json.dumps(value, ensure_ascii=False).encode() + end
        for value in values
    )


def start(**usage: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    return {"type": "message_start", "message": message}


def ended(reason: str | None = "tool_use", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}


def opened(index: Any, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def delta(index: Any, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stopped(index: Any) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def text(index: Any, *pieces: str) -> list[dict[str, Any]]:
    """A whole text block."""
    said = [delta(index, "text_delta", text=piece) for piece in pieces]
    return [opened(index, "text", text=""), *said, stopped(index)]


def tool(index: Any, call_id: str, name: str, *pieces: str, given: Any = None, whole: bool = True) -> list[Any]:
    """A tool_use block; without its end if it is not `whole`."""
    begun = opened(index, "tool_use", id=call_id, name=name, input={} if given is None else given)
    said = [delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [begun, *said, *([stopped(index)] if whole else [])]


def answer(*blocks: list[Any], reason: str | None = "tool_use", done: bool = True, end: bytes = b"\n\n") -> bytes:
    """A whole answer of these blocks."""
    said = [event for block in blocks for event in block]
    return events(start(input_tokens=5), *said, ended(reason, output_tokens=7), *([STOP] if done else []), end=end)
