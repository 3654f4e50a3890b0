"""The read side for people: liveness, readiness, metrics, stats, sessions, patterns, policies.

What it shows is private to the machine's user. No answer carries a CORS header, and the `Host` must be
this machine's, so that no web page can read it through a name that it points here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from aiohttp import web

from paste_proxy.events.values import Json, dumps
from paste_proxy.proxy.http.hosts import host_of, own_hosts
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.http.traffic import Traffic
from paste_proxy.proxy.metrics import Metrics

Rows = Sequence[Mapping[str, Json]]


class Snapshot(Protocol):
    """What the sidecar holds, as of now."""

    def stats(self) -> Mapping[str, Json]:
        """Sums since the start."""

    def sessions(self) -> Rows:
        """The live sessions."""

    def patterns(self) -> Rows:
        """The patterns in use, with their support and confidence."""

    def policies(self) -> Rows:
        """The policy rules, in the order they are tried."""


def add_admin_routes(
    app: web.Application, snapshot: Snapshot, metrics: Metrics, traffic: Traffic, *, host: str
) -> None:
    """Add the read side.

    Args:
        host: what the sidecar is bound to, a name it may be called by.
    """

    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def ready(_: web.Request) -> web.Response:
        return web.Response(text="stopping\n", status=503) if traffic.draining else web.Response(text="ready\n")

    app.router.add_get("/healthz", healthy)
    app.router.add_get("/readyz", ready)
    app.router.add_get("/metrics", guarded(host, metrics.answer))
    shown: dict[str, Callable[[], Mapping[str, Json] | Rows]] = {
        "stats": snapshot.stats,
        "sessions": snapshot.sessions,
        "patterns": snapshot.patterns,
        "policies": snapshot.policies,
    }
    for name, read in shown.items():
        app.router.add_get(f"/paste/v1/{name}", guarded(host, _showing(read)))


_Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def guarded(host: str, answer: _Answer) -> _Answer:
    """The same for requests that call the sidecar, bound to `host`, by a name of its own; others are refused."""
    own = own_hosts(host)

    async def for_us(request: web.Request) -> web.StreamResponse:
        if not own(host_of(request.host)):
            return refusal(403, "foreign_host", f"{request.host} is not a name of this sidecar; call it by its address")
        return await answer(request)

    return for_us


def _showing(read: Callable[[], Mapping[str, Json] | Rows]) -> _Answer:
    async def show(_: web.Request) -> web.Response:
        return web.Response(body=dumps(read()), content_type="application/json")

    return show
