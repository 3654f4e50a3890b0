"""Streams of the Responses API for tests: how they are written."""

import json
from typing import Any

ENDED = {"id": "resp_1", "status": "completed", "usage": {"input_tokens": 100, "output_tokens": 7}}


def stream(*events: dict[str, Any], named: bool = True, end: bytes = b"\n\n") -> bytes:
    """A stream of these events.

    Args:
        named: each has its type in an `event` line too.
    """
    line = end[: len(end) // 2]
    written = b""
    for event in events:
        kind = b"event: " + event["type"].encode() + line if named else b""
        written += kind + b"data: " + json.dumps(event, ensure_ascii=False).encode() + end
    return written


def call(name: str, call_id: str, arguments: Any = "", **fields: Any) -> dict[str, Any]:
    """A function call's item."""
    item_id = f"fc_{call_id}"
    return {"type": "function_call", "id": item_id, "call_id": call_id, "name": name, "arguments": arguments, **fields}


def custom(name: str, call_id: str, text: str = "") -> dict[str, Any]:
    """A custom tool call's item."""
    return {"type": "custom_tool_call", "id": f"ctc_{call_id}", "call_id": call_id, "name": name, "input": text}


def message(text: str, item_id: str = "msg_1", **fields: Any) -> dict[str, Any]:
    """An assistant message's item."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": item_id, "role": "assistant", "content": content, **fields}


def added(item: dict[str, Any], index: Any = 0, **fields: Any) -> dict[str, Any]:
    event = {"type": "response.output_item.added", "output_index": index, "item": item, **fields}
    return {key: value for key, value in event.items() if value is not None}


def done(item: dict[str, Any], index: Any = 0) -> dict[str, Any]:
    return {**added(item, index), "type": "response.output_item.done"}


def grows(delta: str, item_id: str | None, index: Any = 0, of: str = "function_call_arguments") -> dict[str, Any]:
    """A delta of a call's arguments, a custom tool's input or a text."""
    event = {"type": f"response.{of}.delta", "item_id": item_id, "output_index": index, "delta": delta}
    return {key: value for key, value in event.items() if value is not None}


def grown(item_id: str | None, index: Any = 0, of: str = "function_call_arguments", **fields: Any) -> dict[str, Any]:
    """The end of those deltas."""
    event = {"type": f"response.{of}.done", "item_id": item_id, "output_index": index, **fields}
    return {key: value for key, value in event.items() if value is not None}


def ended(kind: str = "completed", **fields: Any) -> dict[str, Any]:
    """The end of the answer."""
    return {"type": f"response.{kind}", "response": {**ENDED, "status": kind, **fields}}


def created(**fields: Any) -> dict[str, Any]:
    response = {"id": "resp_1", "status": "in_progress", "output": [], "usage": None, "error": None, **fields}
    return {"type": "response.created", "response": response}


def called(name: str, call_id: str, text: str, index: Any = 0) -> list[dict[str, Any]]:
    """All events of one function call, its arguments a character a delta."""
    item = call(name, call_id)
    pieces = [grows(letter, item["id"], index) for letter in text]
    return [
        added(item, index),
        *pieces,
        grown(item["id"], index, arguments=text),
        done({**item, "arguments": text, "status": "completed"}, index),
    ]
