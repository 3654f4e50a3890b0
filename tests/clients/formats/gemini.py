"""Gemini's `streamGenerateContent`, as server-sent events."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.script import Body, Turn


class Gemini:
    """`POST .../models/MODEL:streamGenerateContent?alt=sse`."""

    content_type = "text/event-stream"

    def turns_before(self, body: Body) -> int | None:
        if not any("functionDeclarations" in tool for tool in body.get("tools", ())):
            return None
        return len([content for content in body["contents"] if content.get("role") == "model"])

    def stream(self, turn: Turn, number: int) -> Iterator[bytes | float]:
        if turn.text:
            yield _event([{"text": turn.text}])
        if turn.calls:
            yield _event([{"functionCall": {"name": call.name, "args": dict(call.arguments)}} for call in turn.calls])
            yield turn.pause_s
        yield _event([{"text": ""}], "STOP")

    def aside(self, path: str, body: Body) -> bytes:
        content = {"role": "model", "parts": [{"text": "{}"}]}
        return json.dumps({"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}]}).encode()


def _event(parts: list[dict[str, Any]], reason: str | None = None) -> bytes:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    event: dict[str, Any] = {"candidates": [candidate], "modelVersion": "scripted"}
    if reason:
        candidate["finishReason"] = reason
        event["usageMetadata"] = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    return b"data: " + json.dumps(event).encode() + b"\r\n\r\n"
