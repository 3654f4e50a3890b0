"""The first call to an HTTP tool behind TLS, and to an MCP server that has to be started: unprepared and prepared.

Each side has a client of its own, never used, in turns; the prepared side had time to get ready.
"""

import asyncio
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from statistics import median

import aiohttp

from paste_proxy.bench.first_call.far import CERTIFICATE
from paste_proxy.errors import OurFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.tools.backend import Preparing
from paste_proxy.tools.connections import Connections
from paste_proxy.tools.http import HttpBackend
from paste_proxy.tools.mcp_child import Child
from paste_proxy.tools.mcp_client import McpClient
from paste_proxy.tools.mcp_hello import Hello
from paste_proxy.tools.mcp_link import Answerer, Link
from paste_proxy.tools.mcp_stdio_link import StdioLink
from paste_proxy.wire.mcp import Era
from paste_proxy.wire.mcp_tools import ListedTool

ROUNDS = 10
AWAY_MS = (0, 20, 80)
_LIST = Invocation("workbench/list", {})
_HELLO = Hello(
    era=Era.SESSION,
    introduction=b'{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}',
    version="2025-06-18",
)

Fresh = Callable[[], AbstractAsyncContextManager[tuple[Preparing, Invocation]]]
"""A backend that has not been used yet, and a call."""


def measure(rounds: int = ROUNDS, on_round: Callable[[str], None] = lambda case: None) -> dict[str, Json]:
    """Medians in milliseconds, and the share that is left of the unprepared one.

    Raises:
        OurFault: the tool behind TLS does not start.
    """
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder), rounds, on_round))


async def _measure(folder: Path, rounds: int, on_round: Callable[[str], None]) -> dict[str, Json]:
    cases: list[Json] = []
    for away_ms in AWAY_MS:
        async with _far(folder, away_ms) as fresh:
            cases.append(await _case(f"TLS, {away_ms} ms away", fresh, rounds, on_round))
    cases.append(await _case("MCP server to start", lambda: _server(folder), rounds, on_round))
    return {"rounds": rounds, "cases": cases}


async def _case(name: str, fresh: Fresh, rounds: int, on_round: Callable[[str], None]) -> dict[str, Json]:
    sides: dict[bool, list[float]] = {False: [], True: []}
    for number in range(rounds):
        for prepared in (number % 2 == 0, number % 2 == 1):
            sides[prepared].append(await _first(fresh, prepared=prepared))
        on_round(name)
    cold, warm = (median(sides[prepared]) * 1_000 for prepared in (False, True))
    return {"case": name, "unprepared_ms": round(cold, 2), "prepared_ms": round(warm, 2), "left": round(warm / cold, 3)}


async def _first(fresh: Fresh, *, prepared: bool) -> float:
    """Seconds of the first call."""
    async with fresh() as (backend, invocation):
        if prepared:
            for each in backend.needs(invocation):
                await each.prepare()
        began = time.perf_counter()
        await backend.run(invocation, speculative=False)
        return time.perf_counter() - began


@asynccontextmanager
async def _far(folder: Path, away_ms: int) -> AsyncIterator[Fresh]:
    program = (sys.executable, "-m", "paste_proxy.bench.first_call.far", str(folder), str(away_ms))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*program, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    try:
        port = (await process.stdout.readline()).strip().decode()
        if not port:
            raise OurFault("the tool behind TLS does not start; is the program openssl there?")
        trust = await asyncio.to_thread(ssl.create_default_context, cafile=str(folder / CERTIFICATE))
        yield lambda: _tool(f"https://127.0.0.1:{port}/", trust)
    finally:
        await process.communicate(b"")


@asynccontextmanager
async def _tool(url: str, trust: ssl.SSLContext) -> AsyncIterator[tuple[Preparing, Invocation]]:
    async with aiohttp.ClientSession(connector=Connections(ssl=trust)) as session:
        yield HttpBackend(session, url, timeout_s=30.0), Invocation("far", {})


@asynccontextmanager
async def _server(folder: Path) -> AsyncIterator[tuple[Preparing, Invocation]]:
    async def connect(answerer: Answerer) -> Link:
        command = (sys.executable, "-m", "paste_proxy", "tools", "--workspace", str(folder))
        return StdioLink(await Child.start("workbench", command), answerer)

    client = McpClient("workbench", connect, lambda: _HELLO, lambda: {"list": ListedTool(name="list")}, opens=True)
    try:
        yield client, _LIST
    finally:
        await client.close()
