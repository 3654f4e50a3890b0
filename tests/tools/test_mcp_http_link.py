"""A speculative session over streamable HTTP hears what the server asks, and is made anew once for all its calls."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.errors import UpstreamBusy, UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.tools.mcp_client import McpClient
from paste_proxy.tools.mcp_hello import Hello
from paste_proxy.tools.mcp_http_link import HttpLink
from paste_proxy.tools.mcp_link import Answerer, Link
from paste_proxy.wire.mcp import Era
from paste_proxy.wire.mcp_tools import ListedTool
from tests.proxy.mcp.http_server import TOOLS, McpHttpServer
from tests.proxy.mcp.parts import listen, until

HELLO = Hello(
    era=Era.SESSION, introduction=b'{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}', version="2025-11-25"
)
ASKED = replace(HELLO, asked_roots=True, asked_at_opening=True, roots=b'{"roots":[{"uri":"file:///a"}]}')


class Present:
    """What the live client says of itself, changeable."""

    def __init__(self, hello: Hello) -> None:
        self.hello = hello


@pytest.fixture
async def server() -> McpHttpServer:
    return McpHttpServer()


@pytest.fixture
async def present() -> Present:
    return Present(HELLO)


@pytest.fixture
async def client(server: McpHttpServer, present: Present) -> AsyncIterator[McpClient]:
    async with AsyncExitStack() as stack:

        async def handled(request: web.Request) -> web.StreamResponse:
            return await server.handle(request)

        app = web.Application()
        app.router.add_route("*", "/mcp", handled)
        url = await listen(stack, app) + "/mcp"
        http = await stack.enter_async_context(aiohttp.ClientSession())

        async def connect(answerer: Answerer) -> Link:
            return HttpLink(http, url, tuple, answerer, answer_bytes=100_000)

        tools = {name: ListedTool(name=name) for name in TOOLS}
        client = McpClient("s", connect, lambda: present.hello, lambda: tools, marked=True)
        stack.push_async_callback(client.close)
        yield client


async def text(client: McpClient, name: str) -> str:
    result = await client.run(Invocation(f"s/{name}", {}), speculative=True)
    return str(json.loads(result.body)["content"][0]["text"])


async def test_roots_are_answered_on_the_session_s_own_stream_before_the_first_call(
    client: McpClient, server: McpHttpServer, present: Present
) -> None:
    server.asks_roots = True
    present.hello = ASKED
    assert json.loads(await text(client, "where")) == {"roots": [{"uri": "file:///a"}]}
    present.hello = replace(ASKED, roots=b'{"roots":[]}')
    assert json.loads(await text(client, "where")) == {"roots": []}
    assert len(server.sessions) == 1


async def test_a_session_that_was_opened_before_the_server_asked_is_opened_anew(
    client: McpClient, server: McpHttpServer, present: Present
) -> None:
    assert await text(client, "where") == "null"
    server.asks_roots = True
    present.hello = ASKED
    assert "file:///a" in await text(client, "where")


async def test_nothing_is_run_while_the_client_s_roots_are_not_known(
    client: McpClient, server: McpHttpServer, present: Present
) -> None:
    present.hello = replace(ASKED, roots=None)
    with pytest.raises(UpstreamFault, match="asks its client for roots"):
        await text(client, "where")
    assert not server.calls("where")


async def test_calls_that_meet_a_forgotten_session_together_share_the_new_one(
    client: McpClient, server: McpHttpServer
) -> None:
    assert await text(client, "count") == "1"
    server.sessions.clear()
    counted = await asyncio.gather(*(text(client, "count") for _ in range(4)))
    assert sorted(counted) == ["1", "2", "3", "4"]
    assert [one.method for one in server.seen].count("initialize") == 2


async def test_a_marked_call_says_so_in_its_headers_too(client: McpClient, server: McpHttpServer) -> None:
    await text(client, "look")
    (call,) = server.calls("look")
    assert call.headers["x-paste-speculative"] == "1"
    assert call.message["params"]["_meta"] == {"paste-proxy/speculative": True}
    assert "x-paste-speculative" not in server.seen[0].headers


async def test_a_404_of_the_stateless_era_is_no_expired_session(
    client: McpClient, server: McpHttpServer, present: Present
) -> None:
    meta = b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}'
    present.hello = replace(HELLO, era=Era.STATELESS, introduction=meta, version="2026-07-28")
    server.tools.pop("look")
    with pytest.raises(UpstreamFault, match="Unknown tool"):
        await text(client, "look")
    assert [one.method for one in server.seen] == ["tools/call"]


async def test_what_wants_input_first_is_no_result(client: McpClient, server: McpHttpServer) -> None:
    with pytest.raises(UpstreamFault, match="no final result"):
        await text(client, "ask")


async def test_a_late_404_does_not_end_the_session_that_another_call_has_opened(
    client: McpClient, server: McpHttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await text(client, "count") == "1"
    server.sessions.clear()
    answer, late = server.handle, asyncio.Event()

    async def second_waits(request: web.Request) -> web.StreamResponse:
        answered = await answer(request)
        if answered.status == 404 and len(server.calls("count")) == 3:
            await late.wait()
        return answered

    monkeypatch.setattr(server, "handle", second_waits)
    calls = [asyncio.create_task(text(client, "count")) for _ in range(2)]
    await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    late.set()
    assert sorted(await asyncio.gather(*calls)) == ["1", "2"]
    assert [one.method for one in server.seen].count("initialize") == 2


async def test_where_the_server_can_no_longer_ask_the_session_is_opened_anew(
    client: McpClient, server: McpHttpServer, present: Present
) -> None:
    server.asks_roots = True
    present.hello = ASKED
    await text(client, "where")
    (session,) = server.sessions.values()
    await session.own.put(None)
    link = client._session[0] if client._session else None
    assert link is not None
    await until(lambda: not link.hears_requests)
    assert "file:///a" in await text(client, "where")
    assert [one.method for one in server.seen].count("initialize") == 2


async def test_a_server_that_wants_fewer_calls_is_told_from_one_that_is_broken(
    client: McpClient, server: McpHttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await text(client, "count") == "1"

    async def busy(_: web.Request) -> web.Response:
        return web.Response(status=429, headers={"Retry-After": "30"})

    monkeypatch.setattr(server, "handle", busy)
    with pytest.raises(UpstreamBusy) as fault:
        await text(client, "count")
    assert fault.value.retry_after_s == 30
