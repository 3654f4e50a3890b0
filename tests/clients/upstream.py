"""A scripted LLM endpoint that streams with pauses and keeps what it was asked."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.clients.script import Body, Format, Turn


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a turn, as it came."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Body


@dataclass(slots=True)
class Upstream:
    """A running endpoint: `url`, and the requests for turns so far."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)
    """Paths of other requests."""


@asynccontextmanager
async def upstream(form: Format, turns: Sequence[Turn]) -> AsyncIterator[Upstream]:
    """Serve `turns`, each to the request whose history holds those before it."""
    app = web.Application(client_max_size=64 * 2**20)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    served = Upstream("")

    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if request.headers.get("Content-Encoding") == "gzip" and body[:2] == b"\x1f\x8b":
            body = gzip.decompress(body)
        asked = json.loads(body) if body else {}
        number = form.turns_before(asked) if request.method == "POST" else None
        if number is None:
            served.asides.append(f"{request.method} {request.path}")
            return web.Response(body=form.aside(request.path, asked), content_type="application/json")
        headers = {name.lower(): value for name, value in request.headers.items()}
        served.asked.append(Asked(request.raw_path, headers, asked))
        turn = turns[number] if number < len(turns) else Turn(text="(the script is over)")
        if turn.status != 200:
            return web.json_response({"error": {"code": turn.status, "message": "no"}}, status=turn.status)
        response = web.StreamResponse(headers={"Content-Type": form.content_type})
        await response.prepare(request)
        for part in form.stream(turn, number):
            await (asyncio.sleep(part) if isinstance(part, float) else response.write(part))
        await response.write_eof()
        return response

    app.router.add_route("*", "/{path:.*}", answer)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield served
    finally:
        await runner.cleanup()
