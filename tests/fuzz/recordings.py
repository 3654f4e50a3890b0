"""Exchanges of real clients, as recorded: their bodies, where they are small."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paste_proxy.wire.sse import SseDecoder
from tests.field_cases.samples import dumped


@dataclass(frozen=True)
class Recorded:
    """Bodies by kind."""

    requests: Sequence[bytes] = ()
    streams: Sequence[bytes] = ()
    wholes: Sequence[bytes] = ()


_CLIENTS = {
    "openai_chat": ("qwen-code/q1", "virtual-lab/vl"),
    "openai_responses": ("codex/x1",),
    "anthropic_messages": ("claude-code/a1",),
    "gemini": ("gemini-cli/gemC2", "gemini-cli/gem1"),
    "tagged_text": ("deepresearch/dr1",),
    "hermes_text": ("deepresearch/dr1",),
}
_LARGEST_RECORDING = 6 * 2**10


def recorded(folder: Path | None, wire: str) -> Recorded:
    """The recordings of one LLM wire."""
    requests: list[bytes] = []
    streams: list[bytes] = []
    wholes: list[bytes] = []
    for request, answer in _exchanges(folder, _CLIENTS[wire]):
        requests.append(request)
        (streams if answer.lstrip().startswith((b"data:", b"event:", b":")) else wholes).append(answer)
    return Recorded(_small(requests), _small(streams), _small(wholes))


def mcp_bodies(folder: Path | None) -> tuple[bytes, ...]:
    """MCP messages."""
    bodies = [body for pair in _exchanges(folder, ("codex/mcphttp", "claude-code/mcphttp_2026")) for body in pair]
    events = [event.data for body in bodies for event in SseDecoder(2**20).feed(body)]
    return _small([body for body in (*bodies, *events) if body.startswith(b"{")])


def _small(bodies: Sequence[bytes]) -> tuple[bytes, ...]:
    return tuple(body for body in bodies if 2 < len(body) <= _LARGEST_RECORDING)


def _exchanges(folder: Path | None, clients: Sequence[str]) -> Iterator[tuple[bytes, ...]]:
    for client in clients:
        for path in sorted((folder / "fixtures" / client).glob("*.json")) if folder else ():
            pair = json.loads(path.read_text("utf-8"))
            yield tuple(_bytes((pair[side] or {}).get("body")) for side in ("request", "response"))


def _bytes(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else dumped(body)
