"""`/mcp/NAME` in front of a server that speaks streamable HTTP."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import NoReturn

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from paste_proxy.config import Limits, McpServer
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.budgets.limited import Limited, limited
from paste_proxy.testing import FakeGate
from tests.proxy.mcp.parts import listen, sidecar, until

BOTH = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LIST = '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
TOOLS = b'{"tools":[{"name":"look"},{"name":"write"}]}'


def call(id_raw: str = "7", name: str = "look", extra: str = "") -> str:
    return (
        f'{{"jsonrpc":"2.0", "id":{id_raw},"method":"tools/call","params":{{"name":"{name}","arguments":{{"k":1}}'
        f"{extra}}}}}"
    )


class Server:
    """An MCP server whose every answer is scripted."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answers: dict[str, list[tuple[int, dict[str, str], list[bytes]]]] = {}
        self.hold = asyncio.Event()
        self.hold.set()
        self.gone = asyncio.Event()

    def script(self, method: str, *chunks: bytes, status: int = 200, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.setdefault(method, []).append((status, named, list(chunks)))

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.seen.append((request.method, request.raw_path, dict(request.headers), body))
        try:
            key = json.loads(body)["method"] if body else request.method
        except (ValueError, TypeError):
            key = "odd"
        status, headers, chunks = self.answers[key].pop(0)
        response = web.StreamResponse(status=status, headers=headers)
        await response.prepare(request)
        try:
            for chunk in chunks:
                await response.write(chunk)
                await self.hold.wait()
            await response.write_eof()
        except (asyncio.CancelledError, ConnectionError):
            self.gone.set()
            raise
        return response


@pytest.fixture
async def server() -> Server:
    return Server()


@pytest.fixture
async def url(server: Server) -> AsyncIterator[str]:
    async with AsyncExitStack() as stack:
        app = web.Application(client_max_size=0)
        app.router.add_route("*", "/{any:.*}", server.serve)
        yield await listen(stack, app) + "/mcp"


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def test_bytes_statuses_and_headers_pass_both_ways(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    async with sidecar(FakeGate(), {"lab": McpServer(url=url)}) as base:
        for status, method, body in (
            (202, "notifications/initialized", b""),
            (400, "server/discover", b'{"jsonrpc" : "2.0","error":{"code":-32000,"message":"no"},"id":null}'),
            (404, "x", b'{"error":1}'),
            (405, "y", b"Method Not Allowed"),
        ):
            server.script(method, body, status=status, Mcp_Session_Id="s1", X_Own="a", Content_Type="application/json")
            sent = (
                f'{{ "method" :"{method}" , "jsonrpc":"2.0","params":{{"big":12345678901234567890123,"e":"\\u00e9"}}}}'
            )
            headers = {
                **BOTH,
                "Mcp-Method": method,
                "Mcp-Param-Odd": "ü",
                "Origin": "http://o",
                "Authorization": "Bearer t",
            }
            async with client.post(f"{base}/mcp/lab", data=sent, headers=headers) as answer:
                assert (answer.status, await answer.read()) == (status, body)
                assert (answer.headers["Mcp-Session-Id"], answer.headers["X-Own"]) == ("s1", "a")
            _, _, got, raw = server.seen[-1]
            assert raw == sent.encode()
            assert {name: got[name] for name in headers} == headers


async def test_an_accept_header_is_left_as_the_client_wrote_it(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    async with sidecar(FakeGate(), {"lab": McpServer(url=url)}) as base:
        for accept in ("text/event-stream", "*/*", "text/event-stream;q=0.5, application/json"):
            server.script("ping", b"{}")
            await client.post(f"{base}/mcp/lab", data='{"method":"ping","id":1}', headers={"Accept": accept})
            assert server.seen[-1][2]["Accept"] == accept


async def test_sub_paths_and_queries_go_to_the_same_place_below_the_server(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    async with sidecar(FakeGate(), {"lab": McpServer(url=url), "q": McpServer(url=url + "?key=1")}) as base:
        for sent, arrived in (
            ("lab", "/mcp"),
            ("lab/a%2Fb:c?x=1&y", "/mcp/a%2Fb:c?x=1&y"),
            ("lab?z", "/mcp?z"),
            ("q/s?z=2", "/mcp/s?key=1&z=2"),
        ):
            server.script("GET", b"ok")
            await client.get(URL(f"{base}/mcp/{sent}", encoded=True))
            assert server.seen[-1][1] == arrived


async def test_an_event_stream_passes_chunk_by_chunk_with_ids_comments_and_retries(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    chunks = [
        b": hi\n\nid: 1\nretry: 10\ndata: \n\n",
        b'event: message\r\nid: 2\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\r\n\r\n',
        b'data: {"jsonrpc":"2.0","id":7,\ndata: "result":{"content":[]}}\n\n',
    ]
    gate = FakeGate()
    server.hold.clear()
    server.script("tools/call", *chunks, Content_Type="text/event-stream")
    async with (
        sidecar(gate, {"lab": McpServer(url=url)}) as base,
        client.post(f"{base}/mcp/lab", data=call(), headers=BOTH) as answer,
    ):
        assert await answer.content.readexactly(len(chunks[0])) == chunks[0]
        assert not gate.over
        server.hold.set()
        assert await answer.content.read() == b"".join(chunks[1:])
    assert gate.over == {1: ToolResult(body=b'{"content":[]}')}


async def test_a_call_is_asked_about_with_its_session_and_its_end_is_told(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    server.script("tools/call", b'{"result": {"isError": true}, "id":7}', Content_Type="application/json")
    server.script("tools/call", b'{"error":{"code":-32602,"message":"m"},"id":7}', Content_Type="application/json")
    server.script("tools/call", gzip.compress(b'{"result":{},"id":7}'), Content_Encoding="gzip")
    server.script("tools/call", b"gone", status=404)
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        for extra in (',"_meta":{"claudecode/toolUseId":"toolu_1"}', "", "", ""):
            await client.post(f"{base}/mcp/lab", data=call(extra=extra), headers={**BOTH, "x-paste-session": "s9"})
        await until(lambda: len(gate.over) == 4)
    assert gate.asked[0].invocation == Invocation("lab/look", {"k": 1})
    assert (gate.asked[0].session, gate.asked[0].call_id) == ("s9", "toolu_1")
    assert gate.over == {
        1: ToolResult(body=b'{"isError": true}', status=Status.ERROR),
        2: ToolResult(body=b'{"code":-32602,"message":"m"}', status=Status.ERROR),
        3: ToolResult(body=b"{}"),
        4: None,
    }


async def test_a_ready_result_is_served_with_the_live_id_in_the_server_s_form(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    ready = ToolResult(body=b'{"content":[ ],"x":1.0}')
    key = Invocation("lab/look", {"k": 1}).key
    gate = FakeGate()
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:

        async def ask(id_raw: str, session: str, accept: str = BOTH["Accept"]) -> tuple[str, bytes, str | None]:
            headers = {**BOTH, "Accept": accept, "Mcp-Session-Id": session}
            async with client.post(f"{base}/mcp/lab", data=call(id_raw), headers=headers) as answer:
                assert answer.status == 200
                return answer.content_type, await answer.read(), answer.headers.get("Mcp-Session-Id")

        gate.ready[key] = ready
        events = b'event: message\r\ndata: {"jsonrpc":"2.0","id":"a\\u0062","result":{"content":[ ],"x":1.0}}\r\n\r\n'
        assert await ask('"a\\u0062"', "one", "text/event-stream") == ("text/event-stream", events, "one")
        gate.ready[key] = ready
        plain = b'{"jsonrpc":"2.0","id":8,"result":{"content":[ ],"x":1.0}}'
        assert await ask("8", "one") == ("application/json", plain, "one")
        server.script("tools/call", b'data: {"result":{},"id":8}\n\n', Content_Type="text/event-stream; charset=utf-8")
        await ask("8", "two")
        gate.ready[key] = ready
        assert await ask('"a\\u0062"', "two") == ("text/event-stream", events, "two")
    assert len(server.seen) == 1


async def test_what_is_no_plain_call_is_run_whatever_is_ready(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    batch = f"[{call('1')},{call('2', 'write')}]"
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        for body in (batch, call(extra=',"task":{"ttl":1}')):
            gate.ready[Invocation("lab/look", {"k": 1}).key] = ToolResult(body=b"{}")
            gate.ready[Invocation("lab/write", {"k": 1}).key] = ToolResult(body=b"{}")
            server.script("odd", b"[]")
            server.script("tools/call", b"{}")
            await client.post(f"{base}/mcp/lab", data=body, headers=BOTH)
            assert server.seen[-1][3] == body.encode()
    assert all(asked.scope.endswith("#apart") for asked in gate.asked)


async def test_a_batch_s_calls_are_each_told_their_end(server: Server, url: str, client: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    server.script("odd", b'[{"id":2,"result":{"b":1}},', b'{"id":1,"result":{"a":1}}]', Content_Type="application/json")
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        await client.post(f"{base}/mcp/lab", data=f"[{call('1')},{call('2', 'write')}]", headers=BOTH)
        await until(lambda: len(gate.over) == 2)
    assert gate.over == {1: ToolResult(body=b'{"a":1}'), 2: ToolResult(body=b'{"b":1}')}


async def test_a_body_too_long_or_unreadable_counts_as_an_unknown_tool(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    long = call(extra=',"_meta":{"pad":"' + "x" * 400_000 + '"}')
    limits = Limits(observed_request_bytes=300_000)

    async def chunked() -> AsyncIterator[bytes]:
        for at in range(0, len(long), 50_000):
            yield long[at : at + 50_000].encode()

    async with sidecar(gate, {"lab": McpServer(url=url)}, limits=limits) as base:
        for body in (long, chunked(), gzip.compress(call().encode())):
            server.script("tools/call", b'{"result":{},"id":7}')
            server.script("odd", b"{}")
            await client.post(f"{base}/mcp/lab", data=body, headers=BOTH)
        await until(lambda: len(gate.over) == 3)
    assert [asked.invocation.tool for asked in gate.asked] == ["lab/(unread)"] * 3
    assert [len(raw) for _, _, _, raw in server.seen][:2] == [len(long)] * 2


async def test_a_large_body_below_the_limit_is_read_and_arrives_whole(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    body = call(extra=',"_meta":{"pad":"' + "x" * 700_000 + '"}')
    server.script("tools/call", b'{"result":{},"id":7}')
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        await client.post(f"{base}/mcp/lab", data=body, headers=BOTH)
    assert server.seen[0][3] == body.encode()
    assert gate.asked[0].invocation.tool == "lab/look"


async def test_a_result_of_twelve_megabytes_passes_and_is_not_kept(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    big = b'{"jsonrpc":"2.0","id":7,"result":{"t":"' + b"x" * (12 * 2**20) + b'"}}'
    server.script("tools/call", b"data: " + big + b"\n\n", Content_Type="text/event-stream")
    server.script("tools/call", big, Content_Type="application/json")
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        for expected in (len(big) + 8, len(big)):
            async with client.post(f"{base}/mcp/lab", data=call(), headers=BOTH) as answer:
                assert len(await answer.read()) == expected
    assert gate.over == {1: None, 2: None}


async def test_a_client_that_leaves_takes_its_call_with_it(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    server.hold.clear()
    server.script("tools/call", b": wait\n\n", Content_Type="text/event-stream")
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        async with client.post(f"{base}/mcp/lab", data=call(), headers=BOTH) as answer:
            await answer.content.readany()
            answer.close()
        await until(lambda: gate.over == {1: None})
        await asyncio.wait_for(server.gone.wait(), 5)


async def test_two_clients_with_one_id_have_scopes_of_their_own(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        for own in ({"Mcp-Session-Id": "a"}, {"Mcp-Session-Id": "b"}, {"Authorization": "a"}, {"Authorization": "b"}):
            server.script("tools/call", b'{"result":{},"id":7}')
            await client.post(f"{base}/mcp/lab", data=call(), headers={**BOTH, **own})
    assert len({asked.scope for asked in gate.asked}) == 4


async def test_tools_are_offered_when_listed_and_withdrawn_when_the_session_ends(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    opened = b'{"id":1,"result":{"protocolVersion":"2025-06-18"}}'
    server.script("initialize", opened, Mcp_Session_Id="s1", Content_Type="application/json")
    first = b'event: message\ndata: {"id":2,"result":{"tools":[{"name":"look"}],"nextCursor":"n"}}\n\n'
    server.script("tools/list", first, Content_Type="text/event-stream")
    server.script("tools/list", b'{"id":3,"result":{"tools":[{"name":"write"}]}}', Content_Type="application/json")
    server.script("DELETE", b"", status=200)
    hello = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}'
    own = {**BOTH, "Mcp-Session-Id": "s1"}
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        await client.post(f"{base}/mcp/lab", data=hello, headers=BOTH)
        await client.post(f"{base}/mcp/lab", data=LIST, headers=own)
        assert not gate.offers
        page = '{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"n"}}'
        await client.post(f"{base}/mcp/lab", data=page, headers=own)
        await until(lambda: gate.offers)
        assert [tools for _, tools in gate.offers.values()] == [("lab/look", "lab/write")]
        await client.delete(f"{base}/mcp/lab", headers=own)
        await until(lambda: not gate.offers)


@pytest.mark.parametrize("stateless", [True, False])
async def test_only_a_server_without_state_is_offered(
    server: Server, url: str, client: aiohttp.ClientSession, stateless: bool
) -> None:
    gate = FakeGate()
    meta = '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}'
    server.script("tools/list", b'{"id":2,"result":' + TOOLS + b"}", Content_Type="application/json")
    async with sidecar(gate, {"lab": McpServer(url=url, stateless=stateless)}) as base:
        body = f'{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"_meta":{meta}}}}}'
        await client.post(f"{base}/mcp/lab", data=body, headers=BOTH)
        await until(lambda: server.seen)
        assert bool(gate.offers) == stateless


async def test_a_stateless_call_whose_headers_contradict_its_body_is_run(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    body = call(extra=',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}')
    right = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "look"}
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        for wrong in ({}, {"Mcp-Name": "write"}, {"Mcp-Method": "tools/list"}):
            server.script("tools/call", b"{}", status=400)
            await client.post(f"{base}/mcp/lab", data=body, headers={**BOTH, **right, **wrong})
    assert [asked.scope.endswith("#apart") for asked in gate.asked] == [False, True, True]


async def test_a_broken_gate_is_counted_and_the_call_goes_on(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    class Broken(FakeGate):
        async def ask(self, call: object) -> NoReturn:
            raise RuntimeError("broken")

    faults: list[str] = []
    server.script("tools/call", b'{"result":{},"id":7}')
    async with (
        sidecar(Broken(), {"lab": McpServer(url=url)}, faults=faults) as base,
        client.post(f"{base}/mcp/lab", data=call(), headers=BOTH) as answer,
    ):
        assert await answer.read() == b'{"result":{},"id":7}'
    assert faults == ["mcp"]


async def test_an_unknown_server_is_a_404_that_names_the_known_ones(client: aiohttp.ClientSession) -> None:
    async with (
        sidecar(FakeGate(), {"lab": McpServer(url="http://127.0.0.1:9")}) as base,
        client.get(f"{base}/mcp/nope/x?y") as answer,
    ):
        assert answer.status == 404
        assert "no MCP server 'nope'; configured: lab" in await answer.text()


async def test_a_server_that_turns_a_call_away_says_so_to_the_gate(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"lab": McpServer(url=url)}) as base:
        server.script("tools/call", b"slow down", status=429, Retry_After="30", Content_Type="text/plain")
        async with client.post(f"{base}/mcp/lab", data=call(), headers=BOTH) as answer:
            assert (answer.status, await answer.read()) == (429, b"slow down")
        await until(lambda: bool(gate.over))
    (result,) = gate.over.values()
    assert result is not None
    assert limited(result) == Limited(30.0)
