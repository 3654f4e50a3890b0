"""`GET /` and `GET /paste/v1/`: what is to be found under which path."""

from aiohttp import web

from paste_proxy import __version__
from paste_proxy.config import Config
from paste_proxy.errors import place_of
from paste_proxy.events.values import dumps
from paste_proxy.proxy.admin import guarded
from paste_proxy.proxy.llm_route import LlmRoutes

_READ_SIDE = {
    "/paste/v1/stats": "sums since the start",
    "/paste/v1/sessions": "the live sessions",
    "/paste/v1/patterns": "the patterns in use",
    "/paste/v1/policies": "the policy rules, in the order they are tried",
    "/metrics": "the same sums for Prometheus",
    "/healthz": "200 while it lives",
    "/readyz": "200 while it takes requests, 503 while it stops",
}


def add_index(app: web.Application, config: Config, routes: LlmRoutes) -> None:
    """Add the index; at `/` only where no LLM route takes that path. As private as the read side."""
    body = dumps({"paste_proxy": __version__, "mode": config.speculation.mode.value, "paths": paths(config)})

    async def show(_: web.Request) -> web.Response:
        return web.Response(body=body + b"\n", content_type="application/json")

    taken = routes.find("/") is not None
    for path in ("/paste/v1", "/paste/v1/", *(() if taken else ("/",))):
        app.router.add_get(path, guarded(config.host, show))


def paths(config: Config) -> dict[str, str]:
    """Path -> what it is, in a few words."""
    return {
        **{route.path: f"requests below go to {place_of(route.upstream)}" for route in config.llm if not route.ports},
        **{f"/mcp/{name}": "an MCP server" for name in config.mcp},
        **{f"/paste/v1/sessions/SESSION/tools/{name}": "a tool; POST its arguments" for name in config.tools},
        **_READ_SIDE,
    }
