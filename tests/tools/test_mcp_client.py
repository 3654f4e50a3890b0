"""The speculative MCP session: its own, like the live client's, and gone when it is not needed."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.tools.mcp_child import Child
from paste_proxy.tools.mcp_client import McpClient
from paste_proxy.tools.mcp_hello import Hello
from paste_proxy.tools.mcp_http_link import HttpLink
from paste_proxy.tools.mcp_link import Answerer, Link
from paste_proxy.tools.mcp_stdio_link import StdioLink
from paste_proxy.wire.mcp import Era
from paste_proxy.wire.mcp_tools import ListedTool
from tests.peers.scripts import SCRIPTED
from tests.proxy.mcp.parts import until

HELLO = Hello(
    era=Era.SESSION,
    introduction=b'{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"live"}}',
    version="2025-06-18",
    headers=(("Authorization", "Bearer t"), ("X-Run", "r1")),
)
META = (
    b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"live"},'
    b'"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}'
)
MODERN = replace(HELLO, era=Era.STATELESS, introduction=META, version="2026-07-28")
TOOLS = {name: ListedTool(name=name) for name in ("echo", "count", "fail", "die", "hang", "roots", "odd", "big")}


class Present:
    """What the live client says of itself, changeable."""

    def __init__(self, hello: Hello) -> None:
        self.hello = hello

    def __call__(self) -> Hello:
        return self.hello


def invocation(name: str, **arguments: str | int) -> Invocation:
    return Invocation(f"s/{name}", dict(arguments))


@asynccontextmanager
async def over_stdio(hello: Present, *args: str, idle_s: float = 60) -> AsyncIterator[tuple[McpClient, list[Child]]]:
    started: list[Child] = []

    async def connect(answerer: Answerer) -> Link:
        started.append(await Child.start("s", (*SCRIPTED, *args)))
        return StdioLink(started[-1], answerer)

    client = McpClient("s", connect, hello, lambda: TOOLS, idle_s=idle_s)
    try:
        yield client, started
    finally:
        await client.close()
        await client.close()


def text_of(result: ToolResult) -> str:
    return str(json.loads(result.body)["content"][0]["text"])


@pytest.mark.parametrize(("hello", "args"), [(HELLO, ()), (MODERN, ("modern",))])
async def test_a_result_is_the_server_s_own_bytes(hello: Hello, args: tuple[str, ...]) -> None:
    async with over_stdio(Present(hello), *args) as (client, started):
        result = await client.run(invocation("echo", text="é"), speculative=True)
        assert result.status is Status.OK
        assert result.body.startswith(b'{"isError": false, "content":[ {"type":"text","text":"\\u00e9"} ]')
        assert (await client.run(invocation("fail"), speculative=True)).status is Status.ERROR
        assert len(started) == 1


async def test_nothing_starts_before_the_first_use() -> None:
    async with over_stdio(Present(HELLO)) as (client, started):
        assert not started
        client.warm()
        await client.run(invocation("count"), speculative=True)
        assert len(started) == 1


@pytest.mark.parametrize(("hello", "args"), [(HELLO, ()), (MODERN, ("modern",))])
async def test_giving_up_the_wait_for_a_connection_leaves_it_being_opened(hello: Hello, args: tuple[str, ...]) -> None:
    async with over_stdio(Present(hello), *args) as (client, children):
        waiting = asyncio.create_task(client.connect())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert not client.connected
        await client.connect()
        assert len(children) == 1
        assert (await client.run(invocation("count"), speculative=True)).status is Status.OK
        assert len(children) == 1


async def test_calls_run_side_by_side() -> None:
    async with over_stdio(Present(HELLO)) as (client, _):
        hanging = asyncio.create_task(client.run(invocation("hang"), speculative=True))
        assert text_of(await client.run(invocation("echo", text="x"), speculative=True)) == "x"
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging


async def test_a_cancelled_call_is_taken_back() -> None:
    async with over_stdio(Present(HELLO)) as (client, started):
        hanging = asyncio.create_task(client.run(invocation("hang"), speculative=True))
        await client.run(invocation("echo", text="x"), speculative=True)
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)
        await client.run(invocation("echo", text="x"), speculative=True)
    assert "stderr lines: cancelled" in started[0].obituary(0)


@pytest.mark.parametrize("name", ["odd", "unlisted"])
async def test_a_call_the_server_refuses_is_a_fault_and_no_result(name: str) -> None:
    async with over_stdio(Present(HELLO)) as (client, _):
        with pytest.raises(UpstreamFault, match=r"Unknown tool|lists no tool"):
            await client.run(invocation(name), speculative=True)


async def test_after_a_death_the_next_call_has_a_new_server() -> None:
    async with over_stdio(Present(HELLO)) as (client, started):
        with pytest.raises(UpstreamFault, match="ended before it answered"):
            await client.run(invocation("die"), speculative=True)
        assert text_of(await client.run(invocation("count"), speculative=True)) == "1"
        assert len(started) == 2


async def test_an_idle_session_is_closed_and_opened_again() -> None:
    async with over_stdio(Present(HELLO), idle_s=0.05) as (client, started):
        await client.run(invocation("count"), speculative=True)
        async with asyncio.timeout(5):
            await started[0].wait()
        assert text_of(await client.run(invocation("count"), speculative=True)) == "1"


async def test_roots_are_answered_as_the_live_client_answered_them() -> None:
    live = Present(replace(HELLO, asked_roots=True, roots=b'{"roots": [1]}'))
    async with over_stdio(live) as (client, started):
        assert text_of(await client.run(invocation("roots"), speculative=True)) == '{"roots": [1]}'
        live.hello = replace(live.hello, roots=b'{"roots": [2]}')
        assert text_of(await client.run(invocation("roots"), speculative=True)) == '{"roots": [2]}'
        assert len(started) == 2


async def test_what_only_the_agent_can_answer_spoils_the_call() -> None:
    async with over_stdio(Present(HELLO)) as (client, _):
        with pytest.raises(UpstreamFault, match="only the agent has"):
            await client.run(invocation("roots"), speculative=True)


async def test_a_closed_client_runs_nothing() -> None:
    async with over_stdio(Present(HELLO)) as (client, started):
        await client.close()
        with pytest.raises(UpstreamFault, match="closed"):
            await client.run(invocation("echo"), speculative=True)
        assert not started


async def test_a_client_that_retires_lets_its_calls_end_first() -> None:
    async with over_stdio(Present(HELLO)) as (client, started):
        hanging = asyncio.create_task(client.run(invocation("hang"), speculative=True))
        await until(lambda: started)
        retiring = asyncio.create_task(client.retire())
        assert (await client.run(invocation("echo", text="a"), speculative=True)).status is Status.OK
        assert not retiring.done()
        hanging.cancel()
        await asyncio.wait_for(retiring, 10)
        with pytest.raises(UpstreamFault, match="closed"):
            await client.run(invocation("echo"), speculative=True)


Script = Callable[[web.Request, dict[str, object]], web.StreamResponse]


class Endpoint:
    """A streamable-HTTP server that notes what it is sent."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.forgetful = 0
        self.stateless = False

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.method == "POST" else {}
        method = str(body.get("method", ""))
        self.seen.append((request.method, method, dict(request.headers)))
        if request.method == "DELETE" or "id" not in body:
            return web.Response(status=202)
        if method == "initialize":
            result = '{"protocolVersion":"2025-03-26"}'
            text = f'{{"jsonrpc":"2.0","id":{body["id"]},"result":{result}}}'
            return web.Response(text=text, content_type="application/json", headers={"Mcp-Session-Id": "spec"})
        if self.forgetful:
            self.forgetful -= 1
            return web.Response(status=404, text='{"jsonrpc":"2.0","id":null,"error":{"code":-32001}}')
        params = body["params"]
        if params["name"] == "big":
            return web.Response(text="x" * 200_000, content_type="application/json")
        events = (
            ": hello\n\nid: 1\ndata:\n\n"
            'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'
            f'data: {{"result": {{"content":[],"seen":{json.dumps(params)}}}, "id":{body["id"]}}}\n\n'
        )
        return web.Response(text=events, content_type="text/event-stream")


@asynccontextmanager
async def over_http(hello: Present, *, marked: bool = False) -> AsyncIterator[tuple[McpClient, Endpoint]]:
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_route("*", "/mcp", endpoint.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    async with aiohttp.ClientSession() as http:

        async def connect(answerer: Answerer) -> Link:
            return HttpLink(http, url, lambda: hello().headers, answerer, answer_bytes=100_000)

        client = McpClient("s", connect, hello, lambda: TOOLS, marked=marked)
        yield client, endpoint
        await client.close()
    await runner.cleanup()


async def test_over_http_the_session_has_the_client_s_credentials_and_an_id_of_its_own() -> None:
    async with over_http(Present(HELLO)) as (client, endpoint):
        result = await client.run(invocation("echo", text="a"), speculative=True)
        assert json.loads(result.body)["seen"] == {"name": "echo", "arguments": {"text": "a"}}
    assert [(verb, method) for verb, method, _ in endpoint.seen] == [
        ("POST", "initialize"),
        ("POST", "notifications/initialized"),
        ("POST", "tools/call"),
        ("DELETE", ""),
    ]
    for _, _, headers in endpoint.seen:
        assert (headers["Authorization"], headers["X-Run"]) == ("Bearer t", "r1")
    for _, _, headers in endpoint.seen[:3]:
        assert headers["Accept"] == "application/json, text/event-stream"
    assert "MCP-Protocol-Version" not in endpoint.seen[0][2]
    for _, _, headers in endpoint.seen[1:]:
        assert (headers["Mcp-Session-Id"], headers["MCP-Protocol-Version"]) == ("spec", "2025-03-26")


async def test_a_forgotten_session_is_made_anew_once() -> None:
    async with over_http(Present(HELLO)) as (client, endpoint):
        endpoint.forgetful = 1
        await client.run(invocation("echo"), speculative=True)
        assert [method for _, method, _ in endpoint.seen].count("initialize") == 2
        endpoint.forgetful = 5
        with pytest.raises(UpstreamFault, match="no longer knows"):
            await client.run(invocation("echo"), speculative=True)
        assert endpoint.forgetful == 3


async def test_a_stateless_call_stands_alone_and_introduces_itself_as_the_client_does() -> None:
    async with over_http(Present(MODERN)) as (client, endpoint):
        result = await client.run(invocation("echo", text="a"), speculative=True)
        assert json.loads(result.body)["seen"]["_meta"] == json.loads(META)
    ((_, method, headers),) = endpoint.seen
    assert method == "tools/call"
    expected = {"Mcp-Method": "tools/call", "Mcp-Name": "echo", "MCP-Protocol-Version": "2026-07-28"}
    assert {name: headers[name] for name in expected} == expected
    assert "Mcp-Session-Id" not in headers


@pytest.mark.parametrize("hello", [HELLO, MODERN])
async def test_only_where_asked_a_speculative_call_says_that_it_is_one(hello: Hello) -> None:
    async with over_http(Present(hello), marked=True) as (client, _):
        for speculative in (True, False):
            result = await client.run(invocation("echo"), speculative=speculative)
            meta = json.loads(result.body)["seen"].get("_meta", {})
            assert ("paste-proxy/speculative" in meta) == speculative


async def test_an_answer_too_large_to_keep_is_a_fault() -> None:
    async with over_http(Present(HELLO)) as (client, _):
        with pytest.raises(UpstreamFault, match="more than 100000 bytes"):
            await client.run(invocation("big"), speculative=True)


async def test_over_http_a_server_that_asks_for_roots_is_not_imitated() -> None:
    async with over_http(Present(replace(HELLO, asked_roots=True, roots=b"{}"))) as (client, _):
        with pytest.raises(UpstreamFault, match="asks its client for roots"):
            await client.run(invocation("echo"), speculative=True)


async def test_a_server_that_is_not_there_is_an_upstream_fault() -> None:
    async with aiohttp.ClientSession() as http:

        async def connect(answerer: Answerer) -> Link:
            return HttpLink(http, "http://127.0.0.1:9/mcp", tuple, answerer, answer_bytes=1)

        client = McpClient("s", connect, Present(HELLO), lambda: TOOLS)
        with pytest.raises(UpstreamFault, match=r"127\.0\.0\.1:9"):
            await client.run(invocation("echo"), speculative=True)
        await client.close()
