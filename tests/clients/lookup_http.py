"""The lookup server over streamable HTTP, in the test's own event loop."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from tests.clients.lookup_server import answer


@dataclass(slots=True)
class LookupHttp:
    """A running server."""

    url: str
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of every request, with names in lower case."""


@asynccontextmanager
async def lookup_http(name: str, runs: Path) -> AsyncIterator[LookupHttp]:
    """Serve at `url`; answers are plain JSON, and there is no stream of the server's own."""
    app = web.Application()
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    served = LookupHttp("")

    async def serve(request: web.Request) -> web.StreamResponse:
        served.headers.append({key.lower(): value for key, value in request.headers.items()})
        if request.method != "POST":
            return web.Response(status=405)
        message = json.loads(await request.read())
        said = await asyncio.to_thread(answer, message, name, runs)
        session = {"Mcp-Session-Id": "one"} if message.get("method") == "initialize" else {}
        return web.json_response(said, headers=session) if said is not None else web.Response(status=202)

    app.router.add_route("*", "/mcp", serve)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        served.url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
        yield served
    finally:
        await runner.cleanup()
