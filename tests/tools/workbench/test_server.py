"""The tools as a server: lines in and out."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.tools.workbench.backend import Workbench
from paste_proxy.tools.workbench.server import WorkbenchServer
from tests.tools.workbench.test_running import running


def request(number: Any, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def call(number: Any, name: str, **arguments: Any) -> bytes:
    return request(number, "tools/call", name=name, arguments=arguments)


class Talk:
    def __init__(self, server: WorkbenchServer) -> None:
        self.server, self._lines = server, server.lines()

    async def hear(self) -> dict[str, Any]:
        async with asyncio.timeout(10):
            line = await anext(self._lines)
        assert line.endswith(b"\n")
        heard: dict[str, Any] = json.loads(line)
        return heard

    async def ask(self, line: bytes) -> dict[str, Any]:
        await self.server.send(line)
        return await self.hear()


@asynccontextmanager
async def served(root: Path, **options: Any) -> AsyncIterator[Talk]:
    server = WorkbenchServer("workbench", Workbench(root, **options))
    try:
        yield Talk(server)
    finally:
        await server.close()


async def test_it_introduces_itself_in_the_version_that_it_is_asked_for(tmp_path: Path) -> None:
    async with served(tmp_path) as talk:
        for asked, agreed in (("2025-06-18", "2025-06-18"), ("2999-01-01", "2025-11-25"), ("", "2025-11-25")):
            heard = await talk.ask(request("a", "initialize", protocolVersion=asked))
            assert heard["id"] == "a"
            assert heard["result"]["protocolVersion"] == agreed
            assert str(tmp_path) in heard["result"]["instructions"]
        assert (await talk.ask(request(2, "ping")))["result"] == {}


async def test_its_tools_are_declared_with_hints(tmp_path: Path) -> None:
    async with served(tmp_path) as talk, served(tmp_path, read_only=True) as careful:
        tools = (await talk.ask(request(1, "tools/list")))["result"]["tools"]
        hints = {tool["name"]: tool["annotations"] for tool in tools}
        assert [name for name, hint in hints.items() if hint["readOnlyHint"]] == ["read", "list", "glob", "grep"]
        assert [name for name, hint in hints.items() if hint["destructiveHint"]] == ["edit", "write", "run"]
        assert [name for name, hint in hints.items() if hint["openWorldHint"]] == ["run"]
        less = (await careful.ask(request(1, "tools/list")))["result"]["tools"]
        assert [tool["name"] for tool in less] == ["read", "list", "glob", "grep"]
        refused = await careful.ask(call(2, "write", path="a", content="x"))
        assert "no such tool here; there are read, list, glob, grep" in refused["error"]["message"]
        assert not (tmp_path / "a").exists()


async def test_schemas_say_types_and_defaults_and_nothing_empty(tmp_path: Path) -> None:
    for tool in json.loads(Workbench(tmp_path).listing())["tools"]:
        assert len(tool["description"]) > 40
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert set(schema["required"]) == {
            name for name, each in schema["properties"].items() if "default" not in each
        } - {"limit"}
        for each in schema["properties"].values():
            assert each["type"] in ("string", "integer", "number", "boolean")
            assert each["description"].endswith(".")


async def test_what_is_asked_wrongly_is_told_in_the_protocol_s_way(tmp_path: Path) -> None:
    async with served(tmp_path) as talk:
        assert (await talk.ask(b"{not json}\n"))["error"]["code"] == -32700
        assert (await talk.ask(b"[" + request(1, "ping") + b"]"))["error"]["code"] == -32700
        assert (await talk.ask(request(1, "server/discover")))["error"]["code"] == -32601
        assert (await talk.ask(call(1, "nope")))["error"]["code"] == -32602
        assert (await talk.ask(request(1, "tools/call")))["error"]["code"] == -32602
        await talk.server.send(b"\n")
        await talk.server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        assert (await talk.ask(call(1, "list")))["result"]["isError"] is False


async def test_an_argument_that_a_client_adds_for_itself_does_no_harm(tmp_path: Path) -> None:
    async with served(tmp_path) as talk:
        heard = await talk.ask(call(1, "list", wait_for_previous=True))
        assert heard["result"]["content"][0]["text"] == "[the folder is empty]"


async def test_a_call_that_is_cancelled_ends_and_is_not_answered(tmp_path: Path) -> None:
    async with served(tmp_path) as talk:
        await talk.server.send(call("x", "run", command="touch begun; sleep 325"))
        async with asyncio.timeout(20):
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - a process of its own has no event for us
                await asyncio.sleep(0.01)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}}
        await talk.server.send(json.dumps(cancelled).encode())
        assert (await talk.ask(request(2, "ping")))["id"] == 2
        async with asyncio.timeout(20):
            while running(tmp_path):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_calls_run_side_by_side(tmp_path: Path) -> None:
    async with served(tmp_path) as talk:
        await talk.server.send(call(1, "run", command="while [ ! -e go ]; do sleep 0.01; done; echo went"))
        assert (await talk.ask(call(2, "write", path="go", content="")))["id"] == 2
        assert (await talk.hear())["result"]["content"][0]["text"] == "[exit 0]\nwent\n"


async def test_when_the_client_is_done_calls_under_way_are_answered(tmp_path: Path) -> None:
    async with served(tmp_path) as talk:
        await talk.server.send(call(1, "run", command="sleep 0.1; echo done"))
        talk.server.close_input()
        assert "done" in (await talk.hear())["result"]["content"][0]["text"]
        assert await talk.server.wait() == 0
        with pytest.raises(StopAsyncIteration):
            await talk.hear()
        with pytest.raises(UpstreamFault, match="has ended"):
            await talk.server.send(request(2, "ping"))


async def test_a_signal_ends_it_with_what_it_runs(tmp_path: Path) -> None:
    async with served(tmp_path) as talk:
        await talk.server.send(call(1, "run", command="sleep 326"))
        talk.server.signal(15)
        assert await talk.server.wait() == -15
    assert running(tmp_path) == []


async def test_a_fault_of_ours_ends_one_call_and_not_the_server(tmp_path: Path) -> None:
    class Broken(Workbench):
        async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
            raise RuntimeError("a secret")

    talk = Talk(WorkbenchServer("workbench", Broken(tmp_path)))
    heard = await talk.ask(call(1, "list"))
    assert heard["error"] == {"code": -32603, "message": "list broke: RuntimeError"}
    assert (await talk.ask(request(2, "ping")))["id"] == 2
    await talk.server.close()
