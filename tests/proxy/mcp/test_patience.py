"""A call whose answer is silent for too long ends in an error; one that says anything does not."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.config import McpServer
from paste_proxy.proxy.mcp import patience
from paste_proxy.proxy.mcp.silence import Silence
from paste_proxy.testing import FakeGate
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import McpHttpClient, rpc
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import listen, sidecar, until

SHORT_S = 0.15


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
async def server() -> McpHttpServer:
    return McpHttpServer()


@pytest.fixture
async def url(server: McpHttpServer) -> AsyncIterator[str]:
    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_route("*", "/mcp", server.handle)
        yield await listen(stack, app) + "/mcp"


async def test_a_server_that_says_nothing_at_all_is_told_that_the_call_is_given_up(
    server: McpHttpServer, url: str, http: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": McpServer(url=url, idle_call_s=SHORT_S)}) as base:
        client = await McpHttpClient(http, f"{base}/mcp/s", Authorization="Bearer t").open()
        answer = await client.call("silent", "a1")
        assert (client.status, client.form, answer["id"]) == (200, "application/json", "a1")
        assert "has sent nothing for 0.15 s" in answer["error"]["message"]
        assert "not tried again" in answer["error"]["message"]
        await until(lambda: server.seen[-1].method == "notifications/cancelled")
    told = server.seen[-1]
    assert told.message["params"]["requestId"] == "a1"
    assert (told.session, told.headers["Authorization"]) == (client.headers["Mcp-Session-Id"], "Bearer t")
    assert gate.over == {1: None}
    assert len(server.calls("silent")) == 1


async def test_a_stream_that_falls_silent_between_events_ends_with_the_error_as_an_event(
    server: McpHttpServer, url: str, http: aiohttp.ClientSession
) -> None:
    async with sidecar(FakeGate(), {"s": McpServer(url=url, idle_call_s=SHORT_S)}) as base:
        client = await McpHttpClient(http, f"{base}/mcp/s").open()
        before = 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\r\n\r\n'
        sent = rpc("tools/call", {"name": "silent", "arguments": {"before": before}}, 5)
        heard = await client.send(sent)
        assert client.form == "text/event-stream"
        assert [message.get("method") or message["error"]["code"] for message in heard] == [
            "notifications/message",
            -32000,
        ]


async def test_a_stream_that_falls_silent_within_an_event_is_cut(
    server: McpHttpServer, url: str, http: aiohttp.ClientSession
) -> None:
    async with sidecar(FakeGate(), {"s": McpServer(url=url, idle_call_s=SHORT_S)}) as base:
        client = await McpHttpClient(http, f"{base}/mcp/s").open()
        with pytest.raises(aiohttp.ClientPayloadError):
            await client.call("silent", before='data: {"jsonrpc":"2.0",')


async def test_in_the_stateless_era_the_closed_stream_says_it_all(
    server: McpHttpServer, url: str, http: aiohttp.ClientSession
) -> None:
    async with sidecar(FakeGate(), {"s": McpServer(url=url, idle_call_s=SHORT_S)}) as base:
        answer = await McpHttpClient(http, f"{base}/mcp/s", Accept="text/event-stream").call_stateless("silent", 3)
        assert (answer["id"], answer["error"]["code"]) == (3, -32000)
        await until(lambda: server.dropped["silent"])
    assert "notifications/cancelled" not in [one.method for one in server.seen]


async def test_every_byte_begins_the_time_anew_and_what_is_no_call_has_all_the_time(
    http: aiohttp.ClientSession,
) -> None:
    finish = asyncio.Event()
    beats = 0

    async def slow(request: web.Request) -> web.StreamResponse:
        nonlocal beats
        message = json.loads(await request.read())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while message["method"] == "tools/call" and not finish.is_set():
            beats += 1
            await response.write(b": beat\n\n")
            await asyncio.sleep(SHORT_S / 5)
        await finish.wait()
        await response.write(b'data: {"id":%d,"result":{"content":[]}}\n\n' % message["id"])
        return response

    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_post("/", slow)
        url = await listen(stack, app)
        base = await stack.enter_async_context(
            sidecar(FakeGate(), {"s": McpServer(url=url, idle_call_s=SHORT_S), "t": McpServer(url=url, idle_call_s=0)})
        )
        calling = asyncio.create_task(McpHttpClient(http, f"{base}/mcp/s").call("look"))
        asking = asyncio.create_task(McpHttpClient(http, f"{base}/mcp/s").send(rpc("resources/list", {}, 2)))
        await until(lambda: beats > 15)
        finish.set()
        assert (await calling)["result"] == {"content": []}
        assert (await asking)[0]["result"] == {"content": []}


async def test_what_came_while_the_loop_was_held_up_is_heard_before_silence_is_found() -> None:
    ours, theirs = socket.socketpair()
    over: list[float] = []
    silence = Silence(SHORT_S, lambda: over.append(SHORT_S))
    reader, writer = await asyncio.open_connection(sock=ours)
    for _ in range(3):
        theirs.send(b"x")
        hold_up_the_loop()
        assert await reader.read(1) == b"x"
        silence.heard()
    assert not over
    await until(lambda: over)
    writer.close()
    await writer.wait_closed()
    theirs.close()


def hold_up_the_loop() -> None:
    """For longer than the time that silence may last."""
    end = time.monotonic() + 2 * SHORT_S
    while time.monotonic() < end:
        pass


async def test_a_client_that_does_not_read_is_not_taken_for_a_silent_server(
    http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 24 * 2**20
    reads = patience._client_reads
    held_up: list[web.Request] = []

    def client_reads(request: web.Request) -> bool:
        found = reads(request)
        if not found:
            held_up.append(request)
        return found

    monkeypatch.setattr(patience, "_client_reads", client_reads)

    async def big(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b'{"id":7,"result":{"t":"' + b"x" * size + b'"}}', content_type="application/json")

    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_post("/", big)
        url = await listen(stack, app)
        base = await stack.enter_async_context(sidecar(FakeGate(), {"s": McpServer(url=url, idle_call_s=SHORT_S)}))
        sent = rpc("tools/call", {"name": "big"}, 7)
        async with http.post(f"{base}/mcp/s", json=sent, headers=McpHttpClient(http, "").headers) as answer:
            await until(lambda: len(held_up) > 2)
            assert len(await answer.read()) == size + 26


async def test_a_silent_stdio_server_is_told_and_the_client_answered(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    server = scripted().model_copy(update={"idle_call_s": SHORT_S})
    async with sidecar(gate, {"s": server}) as base:
        client = await McpHttpClient(http, f"{base}/mcp/s").open()
        answer = await client.call("hang", "a1")
        assert (answer["id"], answer["error"]["code"]) == ("a1", -32000)
        assert (await client.call("release", 8))["result"]["content"][0]["text"] == "done"
        assert gate.over[1] is None


async def test_a_silent_stdio_server_of_the_stateless_era_too(http: aiohttp.ClientSession) -> None:
    server = scripted("modern").model_copy(update={"idle_call_s": SHORT_S})
    async with sidecar(FakeGate(), {"s": server}) as base:
        client = McpHttpClient(http, f"{base}/mcp/s")
        answer = await client.call_stateless("hang", "a1")
        assert (answer["id"], answer["error"]["code"]) == ("a1", -32000)
