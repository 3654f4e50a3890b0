"""The LLM endpoints: which upstream a request goes to, and its exchange shown to the hub.

A route's path is replaced by the path of its upstream; everything after it, query included, stays as it
stood on the wire.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler
from yarl import URL

from paste_proxy.config import LlmRoute
from paste_proxy.errors import InputFault
from paste_proxy.proxy.http.observation import Observation
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.http.relay import Relay
from paste_proxy.proxy.http.tunnel import is_upgrade
from paste_proxy.proxy.ports import LlmGate
from paste_proxy.tools.loopback import is_loopback
from paste_proxy.wire.protocols import wire_of

_RESERVED = "/paste/"


@dataclass(frozen=True, slots=True)
class _Endpoint:
    prefix: str
    upstream: str
    wire: str
    proxy: str | None
    websockets: bool


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


class LlmRoutes:
    """Finds the endpoint of a raw request target: the longest configured path that it lies below.

    Raises:
        InputFault: two routes have one path of a port, or an upstream has a user name, a query or a fragment.
    """

    def __init__(self, routes: Iterable[LlmRoute]) -> None:
        found: dict[int | None, dict[str, _Endpoint]] = {None: {}}
        for number, route in enumerate(routes):
            prefix = route.path.rstrip("/")
            endpoint = _Endpoint(prefix, _checked(number, route.upstream), route.wire, route.proxy, route.websockets)
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
                return Found(endpoint.upstream + rest, endpoint.wire, endpoint.proxy, endpoint.websockets)
        return None


def add_llm_routes(
    app: web.Application,
    routes: LlmRoutes,
    relays: Mapping[str | None, Relay],
    gate: LlmGate,
    *,
    answer_bytes: int,
    fault: Callable[[str], None],
) -> None:
    """Serve every path that no other route of `app` takes. To be called last.

    Args:
        relays: by the proxy that they go through.
        answer_bytes: how much of an answer is shown to the gate.
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
        seen = None
        if request.method == "POST" and (spoken := wire_of(found.wire, raw)) is not None:
            seen = Observation(gate, spoken, raw, request.headers, answer_bytes, fault)
        relay = relays[found.proxy]
        if not is_upgrade(request):
            return await relay.forward(request, found.target, seen)
        closed = gate.tunnelled()
        try:
            return await relay.forward(request, found.target, seen)
        finally:
            closed()

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
