"""Tools of a client that wants nothing run ahead are not offered, and its calls say so."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.config import McpServer
from paste_proxy.speculation.policy import Policy
from paste_proxy.testing import FakeGate
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import McpHttpClient
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import listen, sidecar, until

LETS = Policy.parse('[[rule]]\ntool = "s/*"\neffect = "read"\n', "p.toml")
OFF = {"X-Paste-Speculate": "off"}


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.mark.parametrize("kind", ["http", "stdio"])
async def test_a_header_from_the_start_keeps_its_tools_from_being_offered(
    http: aiohttp.ClientSession, kind: str
) -> None:
    gate, there = FakeGate(), McpHttpServer()
    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_route("*", "/mcp", there.handle)
        server = scripted() if kind == "stdio" else McpServer(url=await listen(stack, app) + "/mcp")
        base = await stack.enter_async_context(sidecar(gate, {"s": server}, policy=LETS))
        client = await McpHttpClient(http, f"{base}/mcp/s", **OFF).open()
        assert "result" in await client.call("echo" if kind == "stdio" else "look")
        assert gate.offers == {}
        assert [call.ahead for call in gate.asked] == [False]
    if kind == "http":
        assert {one.headers.get("X-Paste-Speculate") for one in there.seen} == {"off"}, "it goes on as it came"
        assert len(there.sessions) == 1, "no session of our own"


async def test_a_header_later_on_withdraws_them_for_good(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with AsyncExitStack() as stack:
        base = await stack.enter_async_context(sidecar(gate, {"s": scripted()}, policy=LETS))
        client = await McpHttpClient(http, f"{base}/mcp/s").open()
        await until(lambda: gate.offers)
        client.headers |= OFF
        await client.call("echo")
        del client.headers["X-Paste-Speculate"]
        await client.tools()
        await client.call("echo")
        assert gate.offers == {}
        assert [call.ahead for call in gate.asked] == [False, False]
