"""The client sessions of one MCP server over HTTP: by session id, else by what tells clients apart.

A client of the stateless era, or of a server that issues no session ids, is known by its credentials
and custom headers; two clients that differ in any of them never share a result. Within one session the requests may
differ in them, too: its watch is told.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import blake2b

from aiohttp.typedefs import RawHeaders

from paste_proxy.clock import Clock
from paste_proxy.proxy.http.headers import request_headers
from paste_proxy.proxy.http.opting_out import opts_out
from paste_proxy.proxy.mcp.watch import McpWatch

SESSION_ID = "Mcp-Session-Id"

_OF_ONE_REQUEST = frozenset(
    {
        "accept",
        "accept-encoding",
        "baggage",
        "content-length",
        "content-type",
        "last-event-id",
        "traceparent",
        "tracestate",
        "x-client-request-id",
        "x-correlation-id",
        "x-request-id",
    }
)


def own_headers(raw: RawHeaders) -> tuple[tuple[str, str], ...]:
    """A client's credentials and custom headers: no hop-by-hop ones, none that belong to one request or session."""
    return tuple(
        (name, value)
        for name, value in request_headers(raw)
        if name.lower() not in _OF_ONE_REQUEST and not name.lower().startswith("mcp-")
    )


class McpSessions:
    """The watches of one server's client sessions; the longest unseen goes when there are too many.

    Args:
        make: makes the watch of a scope and target URL.
        session_headers: request headers that may name the agent session.
        idle_s: a session unseen for this long is over.
    """

    def __init__(
        self,
        server: str,
        make: Callable[[str, str], McpWatch],
        clock: Clock,
        *,
        most: int,
        idle_s: float,
        session_headers: Iterable[str] = (),
    ) -> None:
        self._server, self._make, self._clock = server, make, clock
        self._session_headers = {name.lower() for name in session_headers}
        self._most, self._idle_s = most, idle_s
        self._watches: OrderedDict[str, tuple[McpWatch, float]] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def watch(self, target: str, session_id: str | None, headers: tuple[tuple[str, str], ...]) -> McpWatch:
        """The watch of a client session with the server at `target`, a new one where there is none."""
        key = self._key(target, session_id, headers)
        found = self._watches.get(key)
        watch = found[0] if found else self._make(f"mcp:{self._server}:{key}", target)
        watch.session = next((own for name, own in headers if name.lower() in self._session_headers), watch.session)
        if opts_out(headers):
            watch.opt_out()
        self._watches[key] = (watch, self._clock.monotonic())
        self._watches.move_to_end(key)
        self._expire()
        return watch

    def end(self, target: str, session_id: str) -> None:
        """The session with this id is over."""
        found = self._watches.pop(self._key(target, session_id, ()), None)
        if found:
            self._over(found[0])

    async def close(self) -> None:
        """All sessions are over; waits for what earlier ones still have to end."""
        while self._watches:
            self._over(self._watches.popitem()[1][0])
        await asyncio.gather(*self._closing)

    def _over(self, watch: McpWatch) -> None:
        watch.close()
        task = asyncio.create_task(watch.closed())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _expire(self) -> None:
        oldest = self._clock.monotonic() - self._idle_s
        while self._watches:
            key, (watch, seen) = next(iter(self._watches.items()))
            if seen >= oldest and len(self._watches) <= self._most:
                return
            del self._watches[key]
            self._over(watch)

    @staticmethod
    def _key(target: str, session_id: str | None, headers: tuple[tuple[str, str], ...]) -> str:
        told_apart = repr((target, session_id or sorted(headers)))
        return blake2b(told_apart.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
