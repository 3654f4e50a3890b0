"""The idle timer on tool calls.

A transparent proxy may not judge how long a tool works; it may say that nothing comes any more. A call
whose answer has brought not one byte for a configured time (progress and comments are bytes) is ended with
a JSON-RPC error under its own id, and the server is told of it as a client whose patience ended would tell
it. It is never tried again: whether it was carried out cannot be known.
"""

import asyncio
from collections.abc import Callable

from paste_proxy.wire.jsonrpc import refuse

NO_ANSWER = -32000

_ROUNDS = 16
"""Of the event loop, between the time's end and its verdict."""


class Silence:
    """Calls `over` once nothing was heard for `limit_s` seconds; 0 is never.

    What came while the event loop was held up lies unread when the time is over: the loop has its turn at it before
    that counts. `over` may call `heard`, which begins another such time.
    """

    def __init__(self, limit_s: float, over: Callable[[], None]) -> None:
        self._limit_s, self._over = limit_s, over
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._timer: asyncio.Handle | None = self._loop.call_later(limit_s, self._due) if limit_s else None

    def heard(self) -> None:
        """Something came."""
        self._last = self._loop.time()

    def stop(self) -> None:
        """Nothing is awaited any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _due(self, rounds: int = _ROUNDS) -> None:
        left = self._left()
        if left <= 0 and rounds:
            self._timer = self._loop.call_soon(self._due, rounds - 1)
            return
        if left <= 0:
            self._over()
            left = self._left()
        if left > 0:
            self._timer = self._loop.call_later(left, self._due)

    def _left(self) -> float:
        return self._limit_s - (self._loop.time() - self._last)


def no_answer(id_raw: bytes, server: str, limit_s: float) -> bytes:
    """The error response to a call that went unanswered."""
    why = (
        f"paste-proxy: the MCP server {server!r} has sent nothing for {limit_s:g} s in answer to this call; "
        "whether it was carried out is not known, so it was not tried again (idle_call_s)"
    )
    return refuse(id_raw, NO_ANSWER, why)


def taking_back(id_raw: bytes) -> bytes:
    """The notification by which a client of the session era, or on stdio, gives a request up."""
    head = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":'
    return head + id_raw + b',"reason":"no answer came"}}'
