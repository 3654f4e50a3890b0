"""The LLM endpoints: which upstream a request goes to, and its exchange shown to the hub.

A route's path is replaced by the path of its upstream; everything after it, query included, stays as it
stood on the wire.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from aiohttp import web
from aiohttp.typedefs import Handler
from yarl import URL

from paste_proxy.config import Engine, LlmRoute
from paste_proxy.errors import InputFault
from paste_proxy.proxy.http.observation import Observation
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.http.relay import Relay
from paste_proxy.proxy.http.tunnel import is_upgrade
from paste_proxy.proxy.pacing.hold import Gating, forward_held
from paste_proxy.proxy.ports import LlmGate
from paste_proxy.tools.loopback import is_loopback
from paste_proxy.wire.protocols import wire_of

_RESERVED = "/paste/"
NO_ENGINES: Mapping[str, Engine] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Endpoint:
    prefix: str
    upstream: str
    wire: str
    proxy: str | None
    websockets: bool
    gating: Gating | None


@dataclass(frozen=True, slots=True)
class Found:
    """Where a request goes."""

    target: str
    """The absolute URL, as it is to be written."""
    wire: str
    proxy: str | None
    """The HTTP proxy on the way there."""
    websockets: bool = True
    """Whether one may be opened to it."""
    gating: Gating | None = None
    """What its turns stand before."""


class LlmRoutes:
    """Finds the endpoint of a raw request target: the longest configured path that it lies below.

    Raises:
        InputFault: two routes have one path of a port, one names an engine that there is not, or an upstream has a user
            name, a query or a fragment.
    """

    def __init__(self, routes: Iterable[LlmRoute], engines: Mapping[str, Engine] = NO_ENGINES) -> None:
        found: dict[int | None, dict[str, _Endpoint]] = {None: {}}
        for number, route in enumerate(routes):
            prefix = route.path.rstrip("/")
            upstream, gating = _checked(number, route.upstream), _gating(number, route, engines)
            endpoint = _Endpoint(prefix, upstream, route.wire, route.proxy, route.websockets, gating)
            for port in route.ports or (None,):
                here = found.setdefault(port, {})
                if prefix in here:
                    where = f"{route.path!r} a second time" + (f" on port {port}" if port else "")
                    raise InputFault(f"llm[{number}].path", where, "each path once")
                here[prefix] = endpoint
        self._longest_first = {
            port: sorted(here.values(), key=lambda endpoint: -len(endpoint.prefix)) for port, here in found.items()
        }
        self.paths = tuple(found.pop(None)) or ("(none)",)
        self.ports = frozenset(port for port in found if port is not None)
        """Those that belong to routes alone."""

    def find(self, raw: str, port: int | None = None) -> Found | None:
        """Where a request of that raw target (path and query) goes, or None.

        Args:
            port: one of `ports`; None: the sidecar's.
        """
        for endpoint in self._longest_first[port]:
            rest = raw[len(endpoint.prefix) :]
            if raw.startswith(endpoint.prefix) and rest[:1] in ("", "/", "?"):
                target = endpoint.upstream + rest
                return Found(target, endpoint.wire, endpoint.proxy, endpoint.websockets, endpoint.gating)
        return None


def add_llm_routes(
    app: web.Application,
    routes: LlmRoutes,
    relays: Mapping[str | None, Relay],
    gate: LlmGate,
    *,
    answer_bytes: int,
    request_bytes: int,
    fault: Callable[[str], None],
) -> None:
    """Serve every path that no other route of `app` takes. To be called last.

    Args:
        relays: by the proxy that they go through.
        answer_bytes: how much of an answer is shown to the gate.
        request_bytes: the largest request that is held until it is admitted.
        fault: called with a place for every contained fault of the observer.
    """

    @web.middleware
    async def on_own_port(request: web.Request, handler: Handler) -> web.StreamResponse:
        port = _port(request)
        return await (_serve(request, port) if port in routes.ports else handler(request))

    async def serve(request: web.Request) -> web.StreamResponse:
        return await _serve(request, None)

    async def _serve(request: web.Request, port: int | None) -> web.StreamResponse:
        raw = _origin_form(request.raw_path)
        found = None if port is None and raw.startswith(_RESERVED) else routes.find(raw, port)
        if found is None:
            return refusal(404, "no_route", _no_route(request.path, routes.paths))
        if not found.websockets and is_upgrade(request):
            return refusal(426, "plain_http_only", "this route has websockets = false; ask over plain HTTP")
        spoken = wire_of(found.wire, raw) if request.method == "POST" else None
        seen = None if spoken is None else Observation(gate, spoken, raw, request.headers, answer_bytes, fault)
        relay = relays[found.proxy]
        if is_upgrade(request):
            closed = gate.tunnelled()
            try:
                return await relay.forward(request, found.target, seen)
            finally:
                closed()
        if spoken is None or seen is None or found.gating is None:
            return await relay.forward(request, found.target, seen)
        return await forward_held(request, found.target, spoken, found.gating, relay, seen, keep=request_bytes)

    if routes.ports:
        app.middlewares.append(on_own_port)
    app.router.add_route("*", "/{below:.*}", serve)


def _port(request: web.Request) -> int | None:
    """The port that a request came in by."""
    name = request.get_extra_info("sockname")
    return name[1] if name else None


def _origin_form(raw: str) -> str:
    """Path and query of a target that some clients of proxies write as a whole URL (RFC 9112, 3.2.2)."""
    scheme, found, rest = raw.partition("://")
    if not found or scheme.lower() not in ("http", "https"):
        return raw
    path = rest[len(rest.partition("/")[0].partition("?")[0]) :]
    return path if path.startswith("/") else "/" + path


def _gating(number: int, route: LlmRoute, engines: Mapping[str, Engine]) -> Gating | None:
    if route.engine is None and not route.rate_limits:
        return None
    if route.engine is not None and route.engine not in engines:
        known = ", ".join(sorted(engines)) or "there is none"
        raise InputFault(f"llm[{number}].engine", repr(route.engine), f"one of [engines.NAME]: {known}")
    engine = engines[route.engine] if route.engine is not None else Engine()
    longest_s = max(engine.longest_s, engine.begins_s)
    return Gating(
        route.engine,
        route.path,
        route.hold or ("silent" if route.engine is None else "keep-alive"),
        route.hold_s,
        longest_s,
        tells=route.tell_engine,
        warm_up=route.warm_up,
        tool_cache=route.tool_cache,
        proxy=route.proxy,
    )


def _checked(number: int, upstream: str) -> str:
    url = URL(upstream)
    if url.user is not None or url.query_string or url.fragment or not url.host:
        expected = "scheme, host, port and path only; keys belong into the client's headers"
        raise InputFault(
            f"llm[{number}].upstream", f"{url.with_user(None).with_query(None).with_fragment(None)}", expected
        )
    return upstream.rstrip("/")


def is_itself(upstream: str, host: str, port: int) -> bool:
    """Whether a request to `upstream` would come back to the sidecar bound to `host` and `port`."""
    url = URL(upstream)
    same = url.host == host or (is_loopback(url.host or "") and (is_loopback(host) or host in ("0.0.0.0", "::")))  # noqa: S104 - compared only
    return url.port == port and same


def _no_route(path: str, paths: tuple[str, ...]) -> str:
    return f"no route for {path}; configured LLM paths: {', '.join(sorted(paths))}"
