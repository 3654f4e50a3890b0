"""A whole sidecar tells its engine ahead what comes: requests, and outputs of tools."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.server import app_runner
from tests.proxy.mcp.parts import until

POLICY = """
[[rule]]
tool = "look"
effect = "read"
"""
PATTERN = """
[[pattern]]
id = "named"
tool = "look"
after = "user"
confidence = 0.9
arguments.name = { from = "user", take = "path" }
"""


class Engine:
    """Chat Completions that ask for `look` in the middle of a stream, and then say that they are done."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.outputs: list[tuple[str, Any]] = []
        self.authorized: list[str | None] = []
        self.go_on = asyncio.Event()
        self.url = ""

    async def chat(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        self.requests.append(asked)
        self.authorized.append(request.headers.get("Authorization"))
        if not asked["stream"]:
            return web.json_response({"id": "warm", "choices": []})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await _say(response, {"content": "well"})
        await self.go_on.wait()
        if len(asked["messages"]) == 1:
            function = {"name": "look", "arguments": '{"name": "/a/x"}'}
            await _say(response, {"tool_calls": [{"index": 0, "id": "c1", "function": function}]}, "tool_calls")
        else:
            await _say(response, {}, "stop")
        await response.write(b"data: [DONE]\n\n")
        return response

    async def output(self, request: web.Request) -> web.StreamResponse:
        self.outputs.append((request.match_info["id"], await request.json()))
        return web.json_response({"cached": 1})


async def _say(response: web.StreamResponse, delta: dict[str, Any], finish: str | None = None) -> None:
    event = {"id": "r-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    await response.write(b"data: " + orjson.dumps(event) + b"\n\n")


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    engine = Engine()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", engine.chat)
    app.router.add_post("/cache-tool-output/{id}", engine.output)
    runner = app_runner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    engine.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield engine
    await runner.cleanup()


@asynccontextmanager
async def sidecar(engine: Engine, folder: Path, **route: Any) -> AsyncIterator[tuple[str, Sidecar]]:
    (folder / "policy.toml").write_text(POLICY)
    (folder / "patterns.toml").write_text(PATTERN)
    script = "import sys; sys.stdin.read(); print('seen')"
    config = Config.model_validate(
        {
            "llm": ({"path": "/v1", "upstream": f"{engine.url}/v1", "engine": "one", **route},),
            "engines": {"one": {"band": (4.0, 8.0)}},
            "tools": {"look": {"command": ("python3", "-c", script)}},
            "policies": (str(folder / "policy.toml"),),
            "patterns": (str(folder / "patterns.toml"),),
            "speculation": {"mode": "speculate", "min_benefit_s": 0.0},
            "learning": {"enabled": False},
        }
    )
    made = await asyncio.to_thread(Sidecar, config, SystemClock())
    runner = app_runner(build_app(config, made.parts()))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", made
        await until(lambda: not made.tally.running())
    finally:
        await runner.cleanup()


async def turn(url: str, *messages: dict[str, Any]) -> bytes:
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "look at /a/x now"}, *messages]}
    asked["tools"] = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    async with (
        aiohttp.ClientSession(headers={"x-paste-session": "s", "Authorization": "Bearer key"}) as http,
        http.post(f"{url}/v1/chat/completions", json=asked) as answer,
    ):
        return await answer.read()


async def test_the_next_request_is_read_before_the_agent_sends_it(engine: Engine, tmp_path: Path) -> None:
    engine.go_on.set()
    async with sidecar(engine, tmp_path, warm_up=True) as (url, made):
        await turn(url)
        await until(lambda: len(engine.requests) == 2)
        warmed = engine.requests[1]
        assert warmed["max_tokens"] == 1
        assert [message["role"] for message in warmed["messages"]] == ["user", "assistant", "tool"]
        assert engine.authorized[1] == "Bearer key"
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"{url}/paste/v1/sessions/s/tools/look", json={"name": "/a/x"}) as answer,
        ):
            assert await answer.read() == b"seen\n"
        assert warmed["messages"][2]["content"] == "seen\n"
        await turn(url, *warmed["messages"][1:])
        assert (made.tally.warming.sent, made.tally.warming.hits, made.tally.warming.failed) == (1, 1, 0)


async def test_an_engine_is_given_outputs_while_it_writes(engine: Engine, tmp_path: Path) -> None:
    async with sidecar(engine, tmp_path, tool_cache=True) as (url, made):
        asking = asyncio.create_task(turn(url))
        await until(lambda: engine.outputs)
        ((response_id, entries),) = engine.outputs
        assert response_id == "r-1"
        assert [(entry["name"], entry["params"]) for entry in entries] == [("look", {"name": "/a/x"})]
        assert entries[0]["output"].strip() == "seen"
        engine.go_on.set()
        await asking
        assert made.tally.warming.outputs == 1
        assert len(engine.requests) == 1


async def test_an_output_told_by_somebody_is_of_use(engine: Engine, tmp_path: Path) -> None:
    async with sidecar(engine, tmp_path, warm_up=True) as (url, _), aiohttp.ClientSession() as http:
        asking = asyncio.create_task(turn(url))
        await until(lambda: engine.requests)
        async with http.post(f"{url}/cache-tool-output/r-1", json=[{"name": "look", "output": "told"}]) as answer:
            assert await answer.json() == {"cached": 1}
        engine.go_on.set()
        await asking
        await until(lambda: len(engine.requests) == 2)
        assert engine.requests[1]["messages"][-1]["content"] == "told"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"no", "no JSON"),
        (b"{}", "no array"),
        (b"[1]", "entry 0 is no object"),
        (b'[{"name": "a"}]', "entry 0 has no text as output"),
        (b'[{"name": "a", "output": "b", "params": []}]', "entry 0 has params that are no object"),
        (b'[{"name": "a", "output": "b", "keep_alive": true}]', "entry 0 has a keep_alive"),
    ],
)
async def test_what_is_no_output_is_said(engine: Engine, tmp_path: Path, body: bytes, found: str) -> None:
    async with (
        sidecar(engine, tmp_path, warm_up=True) as (url, _),
        aiohttp.ClientSession() as http,
        http.post(f"{url}/cache-tool-output/r-1", data=body) as answer,
    ):
        assert answer.status == 400
        assert found in await answer.text()


@pytest.mark.parametrize("headers", [{"Origin": "http://page.example"}, {"Host": "page.example"}])
async def test_web_pages_tell_no_outputs(engine: Engine, tmp_path: Path, headers: dict[str, str]) -> None:
    async with (
        sidecar(engine, tmp_path, warm_up=True) as (url, _),
        aiohttp.ClientSession() as http,
        http.post(f"{url}/cache-tool-output/r-1", json=[], headers=headers) as answer,
    ):
        assert answer.status == 403


async def test_where_nothing_is_warmed_it_says_so(engine: Engine, tmp_path: Path) -> None:
    async with (
        sidecar(engine, tmp_path) as (url, _),
        aiohttp.ClientSession() as http,
        http.post(f"{url}/cache-tool-output/r-1", json=[]) as answer,
    ):
        assert answer.status == 404
        assert "warm_up = true" in await answer.text()
