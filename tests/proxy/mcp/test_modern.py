"""The stateless era's HTTP in front of a stdio server, and both eras at one address."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from paste_proxy.testing import FakeGate
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import META, McpHttpClient, rpc, said
from tests.proxy.mcp.parts import sidecar

OWN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({}, 200),
        ({"Mcp-Name": "=?base64?ZWNobw==?="}, 200),
        ({"Mcp-Name": "count"}, 400),
        ({"Mcp-Name": "=?base64?!?="}, 400),
        ({"Mcp-Method": "tools/list"}, 400),
        ({"MCP-Protocol-Version": "2025-11-25"}, 400),
    ],
    ids=str,
)
async def test_a_header_that_contradicts_the_body_is_refused(
    http: aiohttp.ClientSession, wrong: dict[str, str], status: int
) -> None:
    async with sidecar(gate := FakeGate(), {"s": scripted("modern")}) as base:
        client = McpHttpClient(http, f"{base}/mcp/s")
        sent = rpc("tools/call", {"name": "echo", "arguments": {"text": "a"}, "_meta": META}, "x")
        (answer,) = await client.send(sent, **OWN | wrong)
        assert (client.status, answer["id"]) == (status, "x")
        assert ("error" in answer) == (status == 400)
        assert status == 200 or answer["error"]["code"] == -32020
        assert bool(gate.asked) == (status == 200)


async def test_an_unknown_method_is_a_404_and_the_client_goes_on(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted("modern")}) as base:
        client = McpHttpClient(http, f"{base}/mcp/s")
        (answer,) = await client.send(rpc("no/such", {"_meta": META}, 1))
        assert (client.status, answer["error"]["code"]) == (404, -32601)
        assert said(await client.call_stateless("echo", text="a")) == "a"


async def test_a_request_s_own_meta_decides_even_where_a_session_is_named(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted("modern")}) as base:
        client = McpHttpClient(http, f"{base}/mcp/s", **{"Mcp-Session-Id": "no-such-session"})
        assert said(await client.call_stateless("echo", text="a")) == "a"


async def test_a_notification_of_the_stateless_era_reaches_no_shared_process(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted("modern")}) as base:
        client = McpHttpClient(http, f"{base}/mcp/s")
        await client.send(rpc("notifications/cancelled", {"requestId": 1, "_meta": META}))
        assert client.status == 202


async def test_tools_that_changed_at_a_shared_process_are_off_the_offer_of_all_that_share_it(
    http: aiohttp.ClientSession,
) -> None:
    listing = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    async with sidecar(gate := FakeGate(), {"s": scripted("modern")}) as base:
        clients = [McpHttpClient(http, f"{base}/mcp/s", Authorization=name) for name in ("a", "b")]
        for client in clients:
            await client.send(rpc("tools/list", {"_meta": META}, 1), **listing)
        assert len(gate.offers) == 2
        await clients[0].call_stateless("notify")
        assert gate.offers == {}
        await clients[1].send(rpc("tools/list", {"_meta": META}, 2), **listing)
        assert len(gate.offers) == 1
