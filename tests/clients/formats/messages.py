"""Anthropic Messages, streamed."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.script import Body, Turn

_USAGE = {"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


class Messages:
    """`POST .../v1/messages`."""

    content_type = "text/event-stream"

    def turns_before(self, body: Body) -> int | None:
        if not body.get("stream") or not body.get("tools"):
            return None
        return len([message for message in body["messages"] if message["role"] == "assistant"])

    def stream(self, turn: Turn, number: int) -> Iterator[bytes | float]:
        message: Body = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": _USAGE}
        yield _event("message_start", message=message)
        if turn.text:
            yield from _block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text})
        if turn.think_s:
            yield turn.think_s
        for index, call in enumerate(turn.calls, bool(turn.text)):
            opening = {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": call.name, "input": {}}
            yield from _block(index, opening, {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)})
        if turn.calls:
            yield turn.pause_s
        ending = {"stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None}
        yield _event("message_delta", delta=ending, usage={"output_tokens": 10})
        yield _event("message_stop")

    def aside(self, path: str, body: Body) -> bytes:
        if path.endswith("/count_tokens"):
            return b'{"input_tokens":100}'
        text = [{"type": "text", "text": "{}"}]
        answer = {"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": text}
        return json.dumps({**answer, "stop_reason": "end_turn", "stop_sequence": None, "usage": _USAGE}).encode()


def _block(index: int, opening: dict[str, Any], delta: dict[str, Any]) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=opening)
    yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
