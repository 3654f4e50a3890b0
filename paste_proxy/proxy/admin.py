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
from paste_proxy.proxy.pattern_rows import Portion

Rows = Sequence[Mapping[str, Json]]
_TOTAL = "x-paste-total"
_PORTION, _LARGEST_PORTION = 100, 1_000


class Snapshot(Protocol):
    """What the sidecar holds, as of now."""

    def stats(self) -> Mapping[str, Json]:
        """Sums since the start."""

    def sessions(self) -> Rows:
        """The live sessions."""

    def patterns(self, portion: Portion) -> tuple[Rows, int]:
        """The patterns in use that are asked for, and how many there are in all portions."""

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
        "policies": snapshot.policies,
    }
    for name, read in shown.items():
        app.router.add_get(f"/paste/v1/{name}", guarded(host, _showing(read)))

    async def patterns(request: web.Request) -> web.Response:
        portion = _portion(request.query)
        if isinstance(portion, str):
            return refusal(400, "bad_query", portion)
        rows, total = snapshot.patterns(portion)
        return _json(rows, {_TOTAL: str(total)})

    app.router.add_get("/paste/v1/patterns", guarded(host, patterns))


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
        return _json(read())

    return show


def _json(shown: Mapping[str, Json] | Rows, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(body=dumps(shown), content_type="application/json", headers=headers)


def _portion(query: Mapping[str, str]) -> Portion | str:
    """What a query asks for, or what is wrong with it."""
    for key in query:
        if key not in ("tool", "limit", "offset"):
            return f"{key} is no key of this query; those are tool, limit and offset"
    numbers = {key: query.get(key, str(default)) for key, default in (("limit", _PORTION), ("offset", 0))}
    for key, (least, most) in {"limit": (1, _LARGEST_PORTION), "offset": (0, 10**9)}.items():
        if not (numbers[key].isascii() and numbers[key].isdigit() and least <= int(numbers[key][:10]) <= most):
            return f"{key} is {numbers[key][:20]!r}; expected a whole number from {least} to {most}"
    return Portion(query.get("tool"), int(numbers["limit"]), int(numbers["offset"]))
