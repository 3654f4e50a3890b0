"""Chat Completions, streamed."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.script import Body, Turn


class Chat:
    """`POST .../chat/completions`."""

    content_type = "text/event-stream"

    def turns_before(self, body: Body) -> int | None:
        if not body.get("stream") or not body.get("tools"):
            return None
        return len([message for message in body["messages"] if message["role"] == "assistant"])

    def stream(self, turn: Turn, number: int) -> Iterator[bytes | float]:
        yield _chunk({"role": "assistant", "content": turn.text})
        for index, call in enumerate(turn.calls):
            arguments = json.dumps(call.arguments)
            opening = {"name": call.name, "arguments": ""}
            yield _chunk(_call(index, {"id": f"call_{number}_{index}", "type": "function", "function": opening}))
            middle = len(arguments) // 2
            for piece in (arguments[:middle], arguments[middle:]):
                yield _chunk(_call(index, {"function": {"arguments": piece}}))
        if turn.calls:
            # A call is complete once the next begins: an empty piece of one that never comes ends the last.
            yield turn.pause_s
        yield _chunk({}, "tool_calls" if turn.calls else "stop")
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        yield _line(
            {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage}
        )
        yield b"data: [DONE]\n\n"

    def aside(self, path: str, body: Body) -> bytes:
        if path.endswith("/models"):
            return json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}).encode()
        message = {"role": "assistant", "content": "{}"}
        return json.dumps(
            {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
             "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        ).encode()  # fmt: skip


def _call(index: int, rest: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, **rest}]}


def _chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return _line({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


def _line(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"
