"""One small exchange per LLM wire: a text with awkward characters, then two tool calls.

Every field case and every mutation starts from these, so a new wire joins by adding its own.
"""

import json
from dataclasses import dataclass
from typing import Any

SAID = "sé😀\u2028a\u0085b"
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (("look", {"q": "é😀", "n": 1}), ("list", {}))

Event = tuple[str | None, Any]
"""Name of an event where the wire has names, and its data: JSON, or a bare word."""


@dataclass(frozen=True)
class Sample:
    wire: str
    target: str
    request: dict[str, Any]
    events: tuple[Event, ...]
    """The answer as a stream."""
    whole: dict[str, Any]
    """The same answer as one JSON object."""
    calls: tuple[tuple[str, dict[str, Any]], ...] = CALLS
    """What it calls."""

    @property
    def form(self) -> str:
        """The wire whose messages it has: those of calls in plain text differ only in how many of them count."""
        return "tagged_text" if self.wire.endswith("_text") else self.wire

    @property
    def body(self) -> bytes:
        return dumped(self.request)

    def stream(self, end: bytes = b"\n", *, space: bytes = b" ") -> bytes:
        """The answer's bytes with that line end, and that after `data:`."""
        return b"".join(framed(event, end, space) for event in self.events)


def dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def framed(event: Event, end: bytes = b"\n", space: bytes = b" ") -> bytes:
    name, data = event
    head = b"" if name is None else b"event:" + space + name.encode() + end
    return head + b"data:" + space + (data.encode() if isinstance(data, str) else dumped(data)) + end + end


def typed(*events: dict[str, Any]) -> tuple[Event, ...]:
    """Events named by their own `type`."""
    return tuple((event["type"], event) for event in events)


def _chat() -> Sample:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        return None, {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def call(index: int, **function: str) -> dict[str, Any]:
        head = {"id": f"call_{index}", "type": "function"} if "name" in function else {}
        return {"tool_calls": [{"index": index, **head, "function": function}]}

    usage = {"prompt_tokens": 7, "completion_tokens": 9}
    message = {
        "role": "assistant",
        "content": SAID,
        "tool_calls": [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for n, (name, arguments) in enumerate(CALLS)
        ],
    }
    return Sample(
        wire="openai_chat",
        target="/v1/chat/completions",
        request={
            "model": "m",
            "stream": True,
            "tools": [{"type": "function", "function": {"name": name, "parameters": {}}} for name, _ in CALLS],
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "look é😀"},
                message,
                {"role": "tool", "tool_call_id": "call_0", "content": "found"},
            ],
        },
        events=(
            chunk({"role": "assistant", "content": SAID[:3]}),
            chunk({"content": SAID[3:]}),
            chunk(call(0, name="look", arguments="")),
            chunk(call(0, arguments='{"q":"é')),
            chunk(call(0, arguments='😀","n":1}')),
            chunk(call(1, name="list", arguments="{}")),
            chunk({}, "tool_calls"),
            (None, {"id": "c1", "choices": [], "usage": usage}),
            (None, "[DONE]"),
        ),
        whole={
            "id": "c1",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": usage,
        },
    )


def _responses() -> Sample:
    def item(n: int, *, arguments: str, status: str = "completed") -> dict[str, Any]:
        head = {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": CALLS[n][0]}
        return {**head, "arguments": arguments, "status": status}

    def call(n: int) -> list[dict[str, Any]]:
        text, at = json.dumps(CALLS[n][1], ensure_ascii=False), {"output_index": n + 1, "item_id": f"fc_{n}"}
        delta = "response.function_call_arguments.delta"
        return [
            {"type": "response.output_item.added", **at, "item": item(n, arguments="", status="in_progress")},
            *({"type": delta, **at, "delta": piece} for piece in (text[:7], text[7:]) if piece),
            {"type": "response.function_call_arguments.done", **at, "arguments": text},
            {"type": "response.output_item.done", **at, "item": item(n, arguments=text)},
        ]

    said = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": SAID, "annotations": []}],
    }
    items = [said, *(item(n, arguments=json.dumps(arguments)) for n, (_, arguments) in enumerate(CALLS))]
    usage = {"input_tokens": 7, "output_tokens": 9, "total_tokens": 16}
    whole = {"id": "resp_1", "object": "response", "status": "completed", "output": items, "usage": usage}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    at = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
    return Sample(
        wire="openai_responses",
        target="/v1/responses",
        request={
            "model": "m",
            "stream": True,
            "store": False,
            "instructions": "be brief",
            "tools": [{"type": "function", "name": name, "parameters": {}} for name, _ in CALLS],
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "look é😀"}]},
                item(0, arguments='{"q":"a"}'),
                {"type": "function_call_output", "call_id": "call_0", "output": "found"},
            ],
        },
        events=typed(
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", **at, "item": {**said, "status": "in_progress", "content": []}},
            {"type": "response.output_text.delta", **at, "delta": SAID[:3]},
            {"type": "response.output_text.delta", **at, "delta": SAID[3:]},
            {"type": "response.output_text.done", **at, "text": SAID},
            {"type": "response.output_item.done", **at, "item": said},
            *call(0),
            *call(1),
            {"type": "response.completed", "response": whole},
        ),
        whole=whole,
    )


def _anthropic() -> Sample:
    def call(n: int) -> list[dict[str, Any]]:
        name, arguments = CALLS[n]
        text = json.dumps(arguments, ensure_ascii=False)
        block = {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": {}}
        delta = {"type": "content_block_delta", "index": n + 2}
        return [
            {"type": "content_block_start", "index": n + 2, "content_block": block},
            *(
                {**delta, "delta": {"type": "input_json_delta", "partial_json": piece}}
                for piece in ("", text[:7], text[7:])
            ),
            {"type": "content_block_stop", "index": n + 2},
        ]

    thinking = {"type": "content_block_delta", "index": 0}
    saying = {"type": "content_block_delta", "index": 1}
    blocks = [
        {"type": "thinking", "thinking": "hm é", "signature": "c2ln"},
        {"type": "text", "text": SAID},
        *({"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": a} for n, (name, a) in enumerate(CALLS)),
    ]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    return Sample(
        wire="anthropic_messages",
        target="/v1/messages?beta=true",
        request={
            "model": "m",
            "stream": True,
            "max_tokens": 100,
            "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": name, "input_schema": {"type": "object"}} for name, _ in CALLS],
            "messages": [
                {"role": "user", "content": "look é😀"},
                {"role": "assistant", "content": blocks},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_0", "content": "found"},
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": [], "is_error": True},
                    ],
                },
            ],
        },
        events=typed(
            {"type": "message_start", "message": {**message, "content": [], "usage": {"input_tokens": 7}}},
            {"type": "ping"},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
            {**thinking, "delta": {"type": "thinking_delta", "thinking": "hm "}},
            {**thinking, "delta": {"type": "thinking_delta", "thinking": "é"}},
            {**thinking, "delta": {"type": "signature_delta", "signature": "c2ln"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
            {**saying, "delta": {"type": "text_delta", "text": SAID[:3]}},
            {**saying, "delta": {"type": "text_delta", "text": SAID[3:]}},
            {"type": "content_block_stop", "index": 1},
            *call(0),
            *call(1),
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
        ),
        whole={
            **message,
            "content": blocks,
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 7, "output_tokens": 9},
        },
    )


def _gemini() -> Sample:
    def answer(parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, **more}], "responseId": "r1"}

    calls: list[dict[str, Any]] = [{"functionCall": {"name": name, "args": arguments}} for name, arguments in CALLS]
    signed = [{**calls[0], "thoughtSignature": "c2ln"}, calls[1]]
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 9}
    answers = [{"functionResponse": {"name": name, "response": {"output": "found"}}} for name, _ in CALLS]
    return Sample(
        wire="gemini",
        target="/v1beta/models/m-1:streamGenerateContent?alt=sse",
        request={
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "tools": [{"functionDeclarations": [{"name": name} for name, _ in CALLS]}],
            "contents": [
                {"role": "user", "parts": [{"text": "look é😀"}]},
                {"role": "model", "parts": signed},
                {"role": "user", "parts": answers},
            ],
        },
        events=(
            (None, answer([{"text": SAID[:3]}])),
            (None, answer([{"text": SAID[3:]}])),
            (None, answer(signed)),
            (None, {**answer([{"text": ""}], finishReason="STOP"), "usageMetadata": usage}),
        ),
        whole={**answer([{"text": SAID}, *signed], finishReason="STOP"), "usageMetadata": usage},
    )


def _tagged(wire: str, calls: tuple[tuple[str, dict[str, Any]], ...]) -> Sample:
    tagged = "".join(
        f"\n<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"
        for name, arguments in CALLS
    )
    text = SAID + tagged

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        return None, {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    return Sample(
        wire=wire,
        calls=calls,
        target="/v1/chat/completions",
        request={
            "model": "m",
            "stop": ["\n<tool_response>", "<tool_response>"],
            "messages": [
                {"role": "system", "content": 'tools: <tools>\n{"name": "look"}\n</tools>'},
                {"role": "user", "content": "look é😀"},
                {"role": "assistant", "content": text},
                {"role": "user", "content": "<tool_response>\nfound\n</tool_response>"},
            ],
        },
        events=(
            *(chunk({"content": text[at : at + 20]}) for at in range(0, len(text), 20)),
            chunk({}, "stop"),
            (None, "[DONE]"),
        ),
        whole={
            "id": "c1",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        },
    )


_TEXTS = (_tagged("tagged_text", CALLS[:1]), _tagged("hermes_text", CALLS))
SAMPLES = {sample.wire: sample for sample in (_chat(), _responses(), _anthropic(), _gemini(), *_TEXTS)}
"""By wire; each wire in `WIRES` has one."""
