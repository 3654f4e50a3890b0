"""The conversations of an overhead measurement: agents whose history grows by one tool call a turn.

Each request holds the whole history, as Chat Completions wants it: a long past of its own, then what the
scripted LLM answered so far, word for word, with a tool output never seen before after each answer.
"""

from functools import cache

import orjson

TOOL, CALL_ID = "get_reservation_details", "call_bench"
ARGUMENTS = '{"reservation_id":"R00000"}'
TURNS = 16
"""Requests of one session; then another begins."""

_MARK = "########"
_WORDS = "the file server returns a value then we check its result and write it over again "
_OUTPUT_BYTES = 2000


def answer_text(chunks: int) -> str:
    """What the scripted LLM says before its call, in so many chunks; 0: in a JSON body."""
    return "word " * (chunks - 1 if chunks else 100)


class Conversations:
    """The requests of one load, session after session on each connection.

    Args:
        size: bytes of a request in the middle of a session, about.
        chunks: of the streamed answers; 0 for JSON answers.
        name: prefix of the sessions' names.
    """

    def __init__(self, size: int, chunks: int, name: str) -> None:
        self._front, self._turn, self._back = _parts(size, chunks)
        self._name = name
        self._outputs = 0
        self._sessions = 0
        self._open: dict[int, tuple[str, list[bytes]]] = {}

    def next(self, connection: int) -> tuple[str, bytes]:
        """Session and body of a connection's next request."""
        session, turns = self._open.get(connection, ("", []))
        if len(turns) % TURNS == 0:
            self._sessions += 1
            session, turns = f"{self._name}-{self._sessions}", []
        self._outputs += 1
        turns.append(self._turn.replace(_MARK.encode(), b"%08d" % self._outputs))
        self._open[connection] = session, turns
        return session, b"".join((self._front, *turns, self._back))


@cache
def _parts(size: int, chunks: int) -> tuple[bytes, bytes, bytes]:
    """What comes before the turns, one turn, and what comes after."""
    turn = b"".join(b"," + orjson.dumps(message) for message in _exchange(answer_text(chunks), CALL_ID, _MARK))
    past: list[dict[str, object]] = [
        {"role": "system", "content": "Use the tools you are given."},
        {"role": "user", "content": "Look up my reservation."},
    ]
    room = size - len(turn) * TURNS // 2 - 500
    for order in range(max(0, room // (_OUTPUT_BYTES + 260))):
        past += _exchange("", f"call_{order}", (_WORDS * 30)[:_OUTPUT_BYTES])
    tool = {"type": "function", "function": {"name": TOOL, "parameters": {"type": "object"}}}
    front = orjson.dumps({"model": "bench", "stream": chunks > 0, "tools": [tool], "messages": past})
    return front.removesuffix(b"]}"), turn, b"]}"


def _exchange(text: str, call_id: str, note: str) -> list[dict[str, object]]:
    call = {"id": call_id, "type": "function", "function": {"name": TOOL, "arguments": ARGUMENTS}}
    return [
        {"role": "assistant", "content": text or None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": orjson.dumps({"note": note}).decode()},
    ]
