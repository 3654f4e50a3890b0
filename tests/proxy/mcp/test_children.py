"""Processes of client sessions: none outlives its client for long, none is taken from a client that is there."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from paste_proxy.proxy.mcp import children, process
from paste_proxy.testing import FakeGate
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import McpHttpClient, rpc, said
from tests.proxy.mcp.parts import sidecar, until


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def alive(client: McpHttpClient) -> bool:
    await client.send(rpc("ping", {}, 3))
    return client.status == 200


async def test_a_client_that_stopped_listening_and_stays_away_has_gone(
    http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "LEFT_S", 0.05)
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}) as base:
        silent, gone = [await McpHttpClient(http, f"{base}/mcp/s").open() for _ in range(2)]
        async with http.get(gone.url, headers=gone.headers):
            assert len(gate.offers) == 2
        await until(lambda: len(gate.offers) == 1)
        assert (await alive(silent), await alive(gone)) == (True, False)


async def test_a_client_that_comes_back_in_time_is_there(
    http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "LEFT_S", 0.2)
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}) as base:
        back, gone = [await McpHttpClient(http, f"{base}/mcp/s").open() for _ in range(2)]
        for client in (back, gone):
            async with http.get(client.url, headers=client.headers):
                pass
        assert said(await back.call("count")) == "1"
        await until(lambda: len(gate.offers) == 1)
        assert said(await back.call("count")) == "2"


async def test_of_too_many_processes_the_one_unused_longest_ends(
    http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "LATELY_S", 0.0)
    server = scripted().model_copy(update={"processes": 3})
    async with sidecar(FakeGate(), {"s": server}) as base:
        listening, first, third = [await McpHttpClient(http, f"{base}/mcp/s").open() for _ in range(3)]
        async with http.get(listening.url, headers=listening.headers):
            assert await alive(third)
            assert await alive(first)
            fourth = await McpHttpClient(http, f"{base}/mcp/s").open()
            assert [await alive(client) for client in (third, listening, first, fourth)] == [False, True, True, True]


async def test_a_session_used_lately_is_left_alone_whatever_the_number(http: aiohttp.ClientSession) -> None:
    server = scripted().model_copy(update={"processes": 1})
    async with sidecar(FakeGate(), {"s": server}) as base:
        clients = [await McpHttpClient(http, f"{base}/mcp/s").open() for _ in range(2)]
        assert [await alive(client) for client in clients] == [True, True]


async def test_a_cancelled_request_that_is_never_answered_holds_nothing(
    http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CANCELLED_S", 0.05)
    async with sidecar(gate := FakeGate(), {"s": scripted()}) as base:
        client = await McpHttpClient(http, f"{base}/mcp/s").open()
        asking = asyncio.create_task(
            McpHttpClient(http, client.url, **client.headers).send(rpc("tools/call", {"name": "hang"}, 8))
        )
        await until(lambda: gate.asked)
        await client.send(rpc("notifications/cancelled", {"requestId": 8}))
        assert await asking == []
        assert gate.over == {1: None}
        assert said(await client.call("release")) == "done"
