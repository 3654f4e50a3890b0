"""Tools of a client that calls them and never lists them are on offer all the same, after its first call."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.config import McpServer
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.speculation.policy import Policy
from paste_proxy.testing import FakeGate
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import McpHttpClient, rpc
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import listen, sidecar, until

LETS = Policy.parse('[[rule]]\ntool = "s/*"\neffect = "read"\n', "p.toml")
WRITES = Policy.parse('[[rule]]\ntool = "s/*"\neffect = "write"\n', "p.toml")
TOOL = {"http": "look", "stdio": "echo"}
WHO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def introduced(http: aiohttp.ClientSession, url: str) -> McpHttpClient:
    """A client that opens a session and lists nothing."""
    client = McpHttpClient(http, url)
    async with http.post(url, json=rpc("initialize", WHO, 0), headers=client.headers) as answer:
        client.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        await answer.read()
    await client.send(rpc("notifications/initialized", {}))
    return client


async def server(stack: AsyncExitStack, kind: str, era: str) -> McpServer:
    if kind == "stdio":
        return scripted(*(["modern"] if era == "stateless" else []))
    app = web.Application()
    app.router.add_route("*", "/mcp", McpHttpServer().handle)
    return McpServer(url=await listen(stack, app) + "/mcp")


async def call(http: aiohttp.ClientSession, url: str, era: str, tool: str) -> None:
    """The first call of a client that has not listed tools."""
    client = McpHttpClient(http, url) if era == "stateless" else await introduced(http, url)
    answer = await (client.call_stateless if era == "stateless" else client.call)(tool)
    assert "result" in answer


@pytest.mark.parametrize("kind", ["http", "stdio"])
@pytest.mark.parametrize("era", ["session", "stateless"])
async def test_after_its_first_call_they_are_on_offer_and_run(http: aiohttp.ClientSession, kind: str, era: str) -> None:
    gate = FakeGate()
    async with AsyncExitStack() as stack:
        servers = {"s": await server(stack, kind, era)}
        base = await stack.enter_async_context(sidecar(gate, servers, policy=LETS))
        await call(http, f"{base}/mcp/s", era, TOOL[kind])
        await until(lambda: gate.offers)
        ((_, (backend, tools)),) = gate.offers.items()
        assert f"s/{TOOL[kind]}" in tools
        result = await backend.run(Invocation(f"s/{TOOL[kind]}", {}), speculative=True)
        assert result.status is Status.OK


@pytest.mark.parametrize("policy", [Policy(), WRITES])
async def test_no_second_session_is_opened_where_nothing_may_be_run_ahead(
    http: aiohttp.ClientSession, policy: Policy
) -> None:
    there = McpHttpServer()
    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_route("*", "/mcp", there.handle)
        servers = {"s": McpServer(url=await listen(stack, app) + "/mcp")}
        base = await stack.enter_async_context(sidecar(FakeGate(), servers, policy=policy))
        await call(http, f"{base}/mcp/s", "session", "look")
        await call(http, f"{base}/mcp/s", "session", "look")
    assert [one.method for one in there.seen].count("tools/list") == 0
    assert len(there.sessions) == 2
