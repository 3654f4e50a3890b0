"""Requests under way, and how they end when the sidecar stops.

Draining: new work is refused, exchanges run on to a limit, subscriptions (event streams that a client
merely listens to) are closed at once.
"""

import asyncio

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.http.tunnel import is_upgrade

ALWAYS_ANSWERED = frozenset({"/healthz", "/readyz", "/metrics"})
_SUBSCRIPTIONS = ("/mcp/", "/paste/")


class Traffic:
    """Counts exchanges; the application passes every request through `watch`."""

    def __init__(self) -> None:
        self.draining = False
        self._exchanges: set[asyncio.Task[object]] = set()
        self._subscriptions: set[asyncio.Task[object]] = set()
        self._quiet = asyncio.Event()

    @property
    def live(self) -> int:
        """Exchanges under way."""
        return len(self._exchanges)

    async def watch(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Pass a request to its handler, or refuse it while draining."""
        if request.path in ALWAYS_ANSWERED:
            return await handler(request)
        if self.draining:
            return refusal(503, "stopping", "the sidecar is stopping; send the request again", close=True)
        task = asyncio.current_task()
        among = self._subscriptions if _is_subscription(request) else self._exchanges
        if task is not None:
            among.add(task)
        try:
            response = await handler(request)
            if is_upgrade(request) and not response.prepared:
                response.force_close()
            return response
        finally:
            if task is not None:
                among.discard(task)
            if not self._exchanges:
                self._quiet.set()

    def drain(self) -> None:
        """Refuse new work from now on and close the subscriptions."""
        self.draining = True
        for task in self._subscriptions:
            task.cancel()

    def abort(self) -> None:
        """Cut whatever is still under way."""
        for task in (*self._exchanges, *self._subscriptions):
            task.cancel()

    async def quiet(self) -> None:
        """Wait until no exchange is under way; to be called after `drain`."""
        while self._exchanges:
            self._quiet.clear()
            await self._quiet.wait()


def watching(traffic: Traffic) -> Middleware:
    """The application's middleware."""

    @web.middleware
    async def watch(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await traffic.watch(request, handler)

    return watch


def _is_subscription(request: web.Request) -> bool:
    """A GET of an event stream, or a socket, on a path of ours: it lives as long as its client wants."""
    listens = "text/event-stream" in request.headers.get("Accept", "") or "Upgrade" in request.headers
    return request.method == "GET" and request.path.startswith(_SUBSCRIPTIONS) and listens
