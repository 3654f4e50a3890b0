"""OpenAI Responses, streamed."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.script import Body, Call, Turn

_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 110,
}


class Responses:
    """`POST .../responses`. A tool `mcp__SERVER__NAME` is the tool NAME of the namespace `mcp__SERVER`."""

    content_type = "text/event-stream"

    def turns_before(self, body: Body) -> int | None:
        if not body.get("stream") or not body.get("tools"):
            return None
        asked: list[bool] = [item.get("type") == "function_call" for item in body["input"]]
        return sum(own and not before for own, before in zip(asked, [False, *asked], strict=False))

    def stream(self, turn: Turn, number: int) -> Iterator[bytes | float]:
        response: dict[str, Any] = {"id": f"resp_{number}", "object": "response", "created_at": 1, "output": []}
        yield _event("response.created", response={**response, "status": "in_progress"})
        items = [*([_message(turn.text, number)] if turn.text else []), *_calls(turn, number)]
        for index, item in enumerate(items):
            begun: Body = {"content": []} if item["type"] == "message" else {"arguments": ""}
            yield _event("response.output_item.added", output_index=index, item={**item, **begun})
            place = {"item_id": item["id"], "output_index": index}
            if item["type"] == "message":
                yield _event("response.output_text.delta", **place, content_index=0, delta=turn.text)
            else:
                yield _event("response.function_call_arguments.delta", **place, delta=item["arguments"])
                yield _event("response.function_call_arguments.done", **place, arguments=item["arguments"])
        if turn.calls:
            yield turn.pause_s  # the client begins a call when its item is done
        for index, item in enumerate(items):
            yield _event("response.output_item.done", output_index=index, item=item)
        yield _event("response.completed", response={**response, "status": "completed", "usage": _USAGE})

    def aside(self, path: str, body: Body) -> bytes:
        return json.dumps({"models": [], "data": []}).encode()


def _message(text: str, number: int) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}


def _calls(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    for index, call in enumerate(turn.calls):
        yield {
            "type": "function_call",
            "id": f"fc_{number}_{index}",
            "call_id": f"call_{number}_{index}",
            "status": "completed",
            "arguments": json.dumps(call.arguments),
            **_named(call),
        }


def _named(call: Call) -> dict[str, str]:
    space, _, name = call.name.rpartition("__")
    return {"namespace": space, "name": name} if space.startswith("mcp__") else {"name": call.name}


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
