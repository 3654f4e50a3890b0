"""Streams for the tests of this room: how they are written, cut and fed."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from paste_proxy.wire.openai_chat import OpenAiChat
from paste_proxy.wire.types import SeenCall, TurnEnd


def sse(*chunks: Any, done: bool = True, end: bytes = b"\n\n") -> bytes:
    """A Chat Completions stream of these chunks."""
    lines = [json.dumps(chunk, ensure_ascii=False).encode() for chunk in chunks]
    return b"".join(b"data: " + line + end for line in [*lines, *([b"[DONE]"] if done else [])])


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with one delta."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def part(arguments: Any = None, *, index: Any = None, id: Any = None, name: Any = None) -> dict[str, Any]:  # noqa: A002
    """One entry of `tool_calls`; what is None is left out."""
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    entry = {"index": index, "id": id, "function": function}
    return {key: value for key, value in entry.items() if value is not None}


def calling(*parts: dict[str, Any], finish: str | None = "tool_calls", done: bool = True) -> bytes:
    """A stream with one delta per part and a finish reason."""
    return sse(*(delta(tool_calls=[one]) for one in parts), *([delta(finish)] if finish else []), done=done)


def answered(
    chunks: Iterable[bytes], *, clean: bool = True, content_type: str = "text/event-stream"
) -> tuple[list[SeenCall], TurnEnd]:
    """What a reader makes of these chunks: the calls as they were given, and the end."""
    reader = OpenAiChat().reader(content_type=content_type)
    seen = [call for chunk in chunks for call in reader.feed(chunk)]
    return seen, reader.close(clean=clean)


def cuts(stream: bytes) -> Iterator[list[bytes]]:
    """Every way to cut a stream in two, and single bytes."""
    yield [stream[at : at + 1] for at in range(len(stream))]
    for at in range(len(stream) + 1):
        yield [stream[:at], stream[at:]]


def brief(calls: Iterable[SeenCall]) -> list[tuple[int, str, str, Any]]:
    """Order, id, name and arguments of calls."""
    return [(call.order, call.call_id, call.name, call.arguments) for call in calls]
