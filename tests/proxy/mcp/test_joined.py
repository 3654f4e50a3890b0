"""A stdio client whose server is one of a running sidecar."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.config import McpServer
from paste_proxy.proxy.mcp.joined import JoinedServer
from paste_proxy.proxy.mcp.joined_session import JoinedSession, sent_tracing
from paste_proxy.testing import FakeGate
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import META, Json, rpc, said
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import listen, sidecar, until
from tests.proxy.mcp.test_pump import Wire

INITIALIZE = rpc("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {}}, 0)


class Agent:
    """A stdio client of a `JoinedServer`."""

    def __init__(self) -> None:
        self.wire = Wire()

    def say(self, message: Json) -> None:
        self.wire.say(json.dumps(message).encode() + b"\n")

    async def hear(self) -> Json:
        line = await self.wire.hear()
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        message: Json = json.loads(line)
        return message

    async def ask(self, message: Json) -> Json:
        self.say(message)
        return await self.hear()

    async def open(self) -> "Agent":
        assert (await self.ask(INITIALIZE))["id"] == 0
        self.say(rpc("notifications/initialized", {}))
        return self


@asynccontextmanager
async def joined(url: str) -> AsyncIterator[Agent]:
    async with aiohttp.ClientSession(trace_configs=[sent_tracing()]) as http:
        agent = Agent()
        server = JoinedServer(JoinedSession(http, url), agent.wire.write)
        running = asyncio.create_task(server.run(agent.wire.lines()))
        try:
            yield agent
        finally:
            agent.wire.end()
            await asyncio.wait_for(running, 10)


def call(name: str, number: Any = 7, /, **arguments: Any) -> Json:
    return rpc("tools/call", {"name": name, "arguments": arguments}, number)


def modern(name: str, number: Any = 7, /, **arguments: Any) -> Json:
    return rpc("tools/call", {"name": name, "arguments": arguments, "_meta": META}, number)


@pytest.fixture
async def server() -> McpHttpServer:
    return McpHttpServer()


@pytest.fixture
async def behind(server: McpHttpServer) -> AsyncIterator[str]:
    """The address of `server` behind a sidecar."""
    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_route("*", "/mcp", server.handle)
        url = await listen(stack, app) + "/mcp"
        yield await stack.enter_async_context(sidecar(FakeGate(), {"s": McpServer(url=url)})) + "/mcp/s"


async def test_calls_go_through_the_sidecar_s_gate_and_back_by_their_ids() -> None:
    async with sidecar(gate := FakeGate(), {"s": scripted()}) as base, joined(f"{base}/mcp/s") as agent:
        await agent.open()
        agent.say(call("hang", "a"))
        assert said(await agent.ask(call("echo", "b", text="é\u2028"))) == "é\u2028"
        agent.say(call("release", "c"))
        assert {(await agent.hear())["id"] for _ in range(2)} == {"a", "c"}
        assert [asked.invocation.tool for asked in gate.asked] == ["s/hang", "s/echo", "s/release"]


async def test_progress_and_what_the_server_asks_and_tells_reach_the_client_and_its_answer_the_server() -> None:
    async with sidecar(FakeGate(), {"s": scripted()}) as base, joined(f"{base}/mcp/s") as agent:
        await agent.open()
        sent = call("progress", 1)
        sent["params"]["_meta"] = {"progressToken": "p"}
        heard = [await agent.ask(sent), *[await agent.hear() for _ in range(3)]]
        assert [message.get("method", "") for message in heard] == ["notifications/progress"] * 3 + [""]
        agent.say(call("roots", 2))
        asked = await agent.hear()
        assert asked["method"] == "roots/list"
        assert said(await agent.ask({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}})) == '{"roots": []}'
        told = [await agent.ask(call("notify", 3)), await agent.hear()]
        assert {message.get("method", "") for message in told} == {"notifications/tools/list_changed", ""}


async def test_a_cancelled_call_is_cancelled_at_the_server_in_either_era() -> None:
    servers = {"old": scripted(), "new": scripted("modern")}
    async with sidecar(gate := FakeGate(), servers) as base:
        async with joined(f"{base}/mcp/old") as agent:
            await agent.open()
            agent.say(call("hang", 5))
            agent.say(rpc("notifications/cancelled", {"requestId": 5}))
            assert (await agent.ask(call("release", 6)))["id"] == 6
        async with joined(f"{base}/mcp/new") as agent:
            agent.say(modern("hang", 5))
            await until(lambda: len(gate.asked) == 3)
            agent.say(rpc("notifications/cancelled", {"requestId": 5}))
            await until(lambda: gate.over.get(3, 0) is None)
            assert (await agent.ask(modern("release", 6)))["id"] == 6


async def test_a_session_that_the_other_side_forgot_is_opened_anew_and_the_call_made_once(
    server: McpHttpServer, behind: str
) -> None:
    async with joined(behind) as agent:
        await agent.open()
        assert said(await agent.ask(call("count"))) == "1"
        server.sessions.clear()
        assert said(await agent.ask(call("count"))) == "1"
        assert said(await agent.ask(call("count"))) == "2"
        await until(lambda: [one.verb for one in server.seen].count("GET") == 2)
        session = next(iter(server.sessions))
        await server.tell(session, {"method": "notifications/tools/list_changed"})
        assert (await agent.hear())["method"] == "notifications/tools/list_changed"
    assert [one.method for one in server.seen].count("initialize") == 2
    assert not server.sessions


async def test_in_the_stateless_era_a_request_repeats_itself_in_headers_and_a_404_is_an_answer(
    server: McpHttpServer, behind: str
) -> None:
    async with joined(behind) as agent:
        assert said(await agent.ask(modern("look", "é", k=1))) == 'looked {"k": 1}'
        assert (await agent.ask(rpc("no/such", {"_meta": META}, 2)))["error"]["code"] == -32601
    assert [one.method for one in server.seen] == ["tools/call", "no/such"]


async def test_a_sidecar_that_is_gone_is_an_error_under_every_open_id() -> None:
    async with AsyncExitStack() as stack:
        base = await stack.enter_async_context(sidecar(FakeGate(), {"s": scripted()}))
        async with joined(f"{base}/mcp/s") as agent:
            await agent.open()
            await stack.aclose()
            answer = await agent.ask(call("echo", "a"))
            assert answer["id"] == "a"
            assert base in answer["error"]["message"]
            assert "nothing was sent" in answer["error"]["message"]


@pytest.mark.parametrize("begun", [{}, {"before": ": working\n\n"}])
async def test_a_sidecar_that_ends_within_a_call_leaves_an_error_that_says_what_may_have_happened(
    server: McpHttpServer, begun: dict[str, str]
) -> None:
    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_route("*", "/mcp", server.handle)
        url = await listen(stack, app) + "/mcp"
        inner = await stack.enter_async_context(AsyncExitStack())
        base = await inner.enter_async_context(sidecar(FakeGate(), {"s": McpServer(url=url)}))
        async with joined(f"{base}/mcp/s") as agent:
            await agent.open()
            agent.say(call("silent", "a", **begun))
            await until(lambda: server.calls("silent"))
            await inner.aclose()
            answer = await agent.hear()
            assert answer["id"] == "a"
            assert "may have been carried out" in answer["error"]["message"]


async def test_a_client_that_closes_its_end_early_gets_its_answer_however_long_that_takes(
    server: McpHttpServer, behind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with joined(behind) as agent:
        await agent.open()
        agent.say(call("silent", "a"))
        await until(lambda: server.calls("silent"))
        agent.wire.end()
        loop, passed = asyncio.get_running_loop(), 0.0
        now = loop.time
        monkeypatch.setattr(loop, "time", lambda: now() + passed)
        for _ in range(3):
            await asyncio.sleep(0.01)
            passed += 100.0
        await asyncio.sleep(0.01)
        server.release.set()
        assert said(await agent.hear()) == "at last"
