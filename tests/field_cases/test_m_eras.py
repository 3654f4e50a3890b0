"""Field case B72: the stateless era beside the older one."""

import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from paste_proxy.config import McpServer
from tests.field_cases.mcp_world import endpoint, speculating
from tests.peers.mcp_talk import Mode, free_port, running, talk
from tests.proxy.mcp.client import META, rpc, said
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import until

MODERN = (sys.executable, str(Path(__file__).parent.parent / "peers" / "modern_server.py"))
OWN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "look"}


async def test_b72_both_eras_at_one_address_request_by_request(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/look", s=there) as world:
        client = await world.client("s").open()
        listing = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        modern = world.client("s", Authorization="modern")
        (listed,) = await modern.send(rpc("tools/list", {"_meta": META}, 1), **listing)
        assert (listed["result"]["ttlMs"], listed["result"]["cacheScope"]) == (5, "private")
        await modern.call_stateless("look", k=0)
        await world.run_ahead(("mcp__s__look", {"k": 1}))
        assert said(await modern.call_stateless("look", "é", k=1)) == 'looked {"k": 1}'
        assert said(await client.call("count")) == "1"
        assert said(await modern.call_stateless("count")) == "1"
        assert said(await client.call("count")) == "2"
        assert world.served == 1
    ahead = server.calls("look")[-1]
    assert {name: ahead.headers.get(name) for name in OWN} == OWN
    assert "Mcp-Session-Id" not in ahead.headers
    assert ahead.message["params"]["_meta"] == META


@pytest.mark.parametrize(
    ("message", "headers", "status", "code"),
    [
        (rpc("no/such", {"_meta": META}, 1), {**OWN, "Mcp-Method": "no/such"}, 404, -32601),
        (rpc("tools/call", {"name": "look", "_meta": META}, 1), {**OWN, "Mcp-Name": "count"}, 400, -32020),
        (rpc("tools/call", {"name": "look", "_meta": META}, 1), {**OWN, "Mcp-Method": "tools/list"}, 400, -32020),
        (
            rpc("tools/call", {"name": "look", "_meta": META | {"io.modelcontextprotocol/protocolVersion": "9"}}, 1),
            {**OWN, "MCP-Protocol-Version": "9"},
            400,
            -32022,
        ),
    ],
    ids=["unknown method", "name", "method", "version"],
)
async def test_b72_what_the_server_refuses_it_refuses_to_the_client_and_no_session_ends(
    tmp_path: Path, message: dict[str, Any], headers: dict[str, str], status: int, code: int
) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/look", s=there) as world:
        client = await world.client("s").open()
        (told,) = await client.send(message, **headers)
        assert (client.status, told["error"]["code"]) == (status, code)
        assert {name: server.seen[-1].headers[name] for name in headers} == headers
        assert server.seen[-1].message == message
        await world.run_ahead(("mcp__s__look", {"k": 1}))
        await client.call("look", k=1)
        assert world.served == 1


async def test_b72_a_result_that_asks_for_input_is_never_run_ahead_for_another(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/ask", s=there) as world:
        listing = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        client = world.client("s")
        await client.send(rpc("tools/list", {"_meta": META}, 1), **listing)
        await world.run_ahead(("mcp__s__ask", {}))
        await until(lambda: len(server.calls("ask")) == 1)
        wanted = await client.call_stateless("ask")
        assert wanted["result"]["resultType"] == "input_required"
        params = {"name": "ask", "arguments": {}, "inputResponses": {}, "requestState": "s", "_meta": META}
        (given,) = await client.send(rpc("tools/call", params, 2), **OWN | {"Mcp-Name": "ask"})
        assert said(given) == "thanks"
        assert (world.served, len(server.calls("ask"))) == (0, 3)


@pytest.mark.peer
@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_b72_the_official_client_is_given_what_ran_ahead_in_either_era(
    tmp_path: Path, mode: Mode, version: str
) -> None:
    port = free_port()
    async with (
        running((*MODERN, "http", str(port)), port) as url,
        speculating(tmp_path, "m/lookup", m=McpServer(url=url)) as world,
    ):
        plain = await talk(url, [("lookup", {"key": "b"})], mode)
        assert plain["version"] == version
        async with Client(f"{world.base}/mcp/m", mode=mode) as client:
            await client.list_tools()
            for key in ("a", "b"):
                await world.run_ahead(("mcp__m__lookup", {"key": key}))
                ahead = await client.call_tool("lookup", {"key": key})
            assert (await client.call_tool("lookups", {})).structured_content == {"result": 3}
        assert ahead.model_dump() == plain["calls"][0][0]
        assert world.served == 2
