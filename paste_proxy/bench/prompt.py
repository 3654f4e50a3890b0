"""The request body of an overhead measurement: an agent's chat history of a given size."""

from functools import cache

import orjson

_MARK = "########"
_WORDS = "the file server returns a value then we check its result and write it over again "
_MESSAGE_BYTES = 2000


@cache
def prompt(size: int, *, stream: bool) -> tuple[bytes, bytes]:
    """A Chat Completions body of about `size` bytes, in two parts between which eight bytes belong.

    The history alternates tool calls and their outputs; the eight bytes lie in the last output.
    """
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "Use the tools you are given."},
        {"role": "user", "content": "Look up my reservation."},
    ]
    rounds = max(0, (size - 600) // (_MESSAGE_BYTES + 280))
    for order in range(rounds):
        messages += _exchange(order, _text(_MESSAGE_BYTES))
    messages += _exchange(rounds, _MARK)
    tool = {"type": "function", "function": {"name": "get_reservation_details", "parameters": {"type": "object"}}}
    body = orjson.dumps({"model": "bench", "stream": stream, "messages": messages, "tools": [tool]})
    body = body[:-1] + b" " * max(0, size - len(body) - len(_MARK)) + b"}"
    front, back = body.split(_MARK.encode())
    return front, back


def _exchange(order: int, text: str) -> list[dict[str, object]]:
    arguments = orjson.dumps({"reservation_id": f"R{order:05d}"}).decode()
    call = {
        "id": f"call_{order}",
        "type": "function",
        "function": {"name": "get_reservation_details", "arguments": arguments},
    }
    output = orjson.dumps({"reservation_id": f"R{order:05d}", "note": text}).decode()
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{order}", "content": output},
    ]


def _text(size: int) -> str:
    return (_WORDS * (size // len(_WORDS) + 1))[:size]
