"""The application: which request goes where, and what lives as long as it does.

Order matters: the sidecar's own routes come first, the LLM endpoints take whatever is left.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from aiohttp import web

from paste_proxy.config import Config
from paste_proxy.proxy.admin import Snapshot, add_admin_routes
from paste_proxy.proxy.http.relay import Relay, shed_own_headers
from paste_proxy.proxy.http.traffic import Traffic, watching
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.index import add_index
from paste_proxy.proxy.llm_route import LlmRoutes, add_llm_routes
from paste_proxy.proxy.metrics import Metrics
from paste_proxy.proxy.ports import LlmGate

TRAFFIC = web.AppKey("traffic", Traffic)
METRICS = web.AppKey("metrics", Metrics)

Lifetime = Callable[[web.Application], AsyncIterator[None]]
"""A cleanup context: what is before its `yield` runs at the start, the rest at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the application stands on; `composition.compose` makes it."""

    tally: Tally
    turns: LlmGate
    snapshot: Snapshot
    sessions: Callable[[], int]
    """How many sessions are live."""
    routes: tuple[Callable[[web.Application], None], ...] = ()
    """Further routes of our own: MCP, dispatch, the page."""
    draining: Callable[[], None] = lambda: None
    """Called once nothing new is taken any more: what waits for its turn need not wait longer."""
    lifetimes: tuple[Lifetime, ...] = ()
    """Started in order before the first request, ended in reverse order after the last."""


def build_app(config: Config, parts: Parts) -> web.Application:
    """The whole sidecar as an aiohttp application.

    Raises:
        InputFault: the LLM routes contradict each other.
    """
    traffic = Traffic()
    metrics = Metrics(parts.tally, config.speculation.mode, sessions=parts.sessions, exchanges=lambda: traffic.live)
    app = web.Application(middlewares=[watching(traffic)], client_max_size=0)
    app[TRAFFIC], app[METRICS] = traffic, metrics
    app.on_response_prepare.append(shed_own_headers)
    keep = config.limits.observed_request_bytes
    relays = {proxy: Relay(keep=keep, proxy=proxy) for proxy in {route.proxy for route in config.llm}}
    pools = [relay.pooling for relay in relays.values()]
    app.cleanup_ctx.extend([metrics.sampling, *pools, *parts.lifetimes])
    add_admin_routes(app, parts.snapshot, metrics, traffic, host=config.host)
    for add_routes in parts.routes:
        add_routes(app)
    routes = LlmRoutes(config.llm, config.engines)
    add_index(app, config, routes)
    add_llm_routes(
        app,
        routes,
        relays,
        parts.turns,
        answer_bytes=config.limits.observed_answer_bytes,
        request_bytes=keep,
        fault=parts.tally.fault,
    )
    return app
