"""An answer that has begun before there is one: what a client's reader of an event stream passes over, and how a
refusal looks once the stream has begun.

A comment line is part of every event stream (WHATWG HTML, section 9.2); Anthropic's streams have an event of their own
for it, which some of its clients count as a sign of life where they pass comments over. Gemini's clients take every
line that is not empty for a part of an answer: there is nothing that they would pass over.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from paste_proxy.events.values import Json, dumps, loads

_COMMENT = b": waiting\n\n"
_PING = b'event: ping\ndata: {"type": "ping"}\n\n'
_MOST_BYTES = 2_000
"""Of a refusal that is no JSON, in the message that tells of it."""


def keep_alive(wire: str) -> bytes | None:
    """Bytes that say nothing and show that the stream lives; None: that protocol's clients know none."""
    if wire == "gemini":
        return None
    return _PING if wire == "anthropic_messages" else _COMMENT


def streamed(wire: str, body: bytes) -> bytes | None:
    """The events of an answer that came whole although a stream was asked for; None: it cannot be told in one.

    Of Chat Completions each message is one piece.
    """
    answer = _object_of(body)
    choices = answer.get("choices") if answer is not None and wire == "openai_chat" else None
    if answer is None or not isinstance(choices, list):
        return None
    pieces = [
        {"index": choice.get("index", 0), "delta": _delta(choice), "finish_reason": choice.get("finish_reason")}
        for choice in choices
        if isinstance(choice, dict)
    ]
    return b"data: " + dumps({**answer, "object": "chat.completion.chunk", "choices": pieces}) + b"\n\ndata: [DONE]\n\n"


def _delta(choice: Mapping[str, Json]) -> dict[str, Json]:
    message = choice.get("message")
    delta = dict(message) if isinstance(message, dict) else {}
    calls = delta.get("tool_calls")
    if isinstance(calls, list):
        delta["tool_calls"] = [
            {"index": index, **call} if isinstance(call, dict) else call for index, call in enumerate(calls)
        ]
    return delta


def refused_in_stream(wire: str, status: int, body: bytes) -> bytes:
    """The event by which a stream of that protocol tells of what would have been an answer of that status.

    Args:
        body: of that answer; where it is an error object of the protocol's own, it is told as it is.
    """
    return _TOLD.get(wire, _as_data)(status, _object_of(body), body)


def _object_of(body: bytes) -> dict[str, Json] | None:
    try:
        read = loads(body)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def _text(status: int, said: Mapping[str, Json] | None, body: bytes) -> str:
    error = said.get("error") if said else None
    message = error.get("message") if isinstance(error, dict) else None
    if isinstance(message, str):
        return message
    return body[:_MOST_BYTES].decode("utf-8", "replace") or f"the upstream answered with status {status}"


def _as_data(status: int, said: Mapping[str, Json] | None, body: bytes) -> bytes:
    """The error object stands where a piece of the answer would."""
    error = said if said and "error" in said else {"error": {"message": _text(status, said, body), "code": status}}
    return b"data: " + dumps(error) + b"\n\n"


def _anthropic(status: int, said: Mapping[str, Json] | None, body: bytes) -> bytes:
    if said is None or said.get("type") != "error":
        said = {"type": "error", "error": {"type": "api_error", "message": _text(status, said, body)}}
    return b"event: error\ndata: " + dumps(dict(said)) + b"\n\n"


def _responses(status: int, said: Mapping[str, Json] | None, body: bytes) -> bytes:
    error = said.get("error") if said else None
    code = error.get("code") if isinstance(error, dict) else None
    told: dict[str, Json] = {
        "type": "error",
        "code": code if isinstance(code, str) else str(status),
        "message": _text(status, said, body),
        "param": None,
        "sequence_number": 0,
    }
    return b"event: error\ndata: " + dumps(told) + b"\n\n"


_TOLD: Mapping[str, Callable[[int, Mapping[str, Json] | None, bytes], bytes]] = MappingProxyType(
    {"anthropic_messages": _anthropic, "openai_responses": _responses}
)
