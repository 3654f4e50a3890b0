"""Calls taken back in the way of their era, through a whole sidecar: also one that waits for a call run ahead."""

import asyncio
from pathlib import Path

import pytest

from tests.field_cases.mcp_world import World, endpoint, speculating
from tests.proxy.mcp.client import META, McpHttpClient, rpc, said
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import until

LISTING = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}


def again(client: McpHttpClient) -> McpHttpClient:
    """The same client, for another message at the same time."""
    return McpHttpClient(client.http, client.url, **client.headers)


async def promoted(world: World, client: McpHttpClient, *, stateless: bool) -> "asyncio.Task[object]":
    """A call of the agent that waits for the one that runs ahead."""
    await world.run_ahead(("mcp__s__silent", {}))
    ask = again(client).call_stateless if stateless else again(client).call
    waiting = asyncio.create_task(ask("silent", 41))
    await asyncio.sleep(0.05)  # nothing shows that it waits
    return waiting


async def test_a_notification_ends_the_wait_and_the_call_reaches_no_server(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/silent", s=there) as world:
        client = await world.client("s").open()
        await world.run_ahead(("mcp__s__silent", {}))
        sender = again(client)
        waiting = asyncio.create_task(sender.send(rpc("tools/call", {"name": "silent", "arguments": {}}, 41)))
        await asyncio.sleep(0.05)  # nothing shows that it waits
        await client.send(rpc("notifications/cancelled", {"requestId": 41}))
        assert await waiting == []
        assert (sender.status, sender.form) == (200, "text/event-stream")
        server.release.set()
        assert said(await client.call("count")) == "1"
    (ahead,) = server.calls("silent")
    assert ahead.session != client.headers["Mcp-Session-Id"]


@pytest.mark.parametrize("stateless", [False, True])
async def test_a_client_that_leaves_while_its_call_waits_takes_nothing_with_it(tmp_path: Path, stateless: bool) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/silent", s=there) as world:
        client = world.client("s")
        if stateless:
            await client.send(rpc("tools/list", {"_meta": META}, 1), **LISTING)
        else:
            await client.open()
        waiting = await promoted(world, client, stateless=stateless)
        waiting.cancel()
        await asyncio.wait([waiting])
        server.release.set()
        answer = await (client.call_stateless("silent") if stateless else client.call("silent"))
        assert said(answer) == "at last"
    assert len(server.calls("silent")) == 1
    assert world.served == 1


async def test_a_live_call_is_closed_with_its_client_in_the_stateless_era_and_goes_on_in_a_session(
    tmp_path: Path,
) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, s=there) as world:
        client = world.client("s")
        leaving = asyncio.create_task(client.call_stateless("silent", before=": hello\n\n"))
        await until(lambda: server.calls("silent"))
        leaving.cancel()
        await until(lambda: server.dropped["silent"] == 1)
        assert "notifications/cancelled" not in [one.method for one in server.seen]
        client = await client.open()
        calling = asyncio.create_task(again(client).call("silent", 9))
        await until(lambda: len(server.calls("silent")) == 2)
        await client.send(rpc("notifications/cancelled", {"requestId": 9}))
        told = server.seen[-1]
        assert (told.method, told.message["params"]) == ("notifications/cancelled", {"requestId": 9})
        server.release.set()
        assert said(await calling) == "at last"
