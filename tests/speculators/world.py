"""A live sidecar with an agent's LLM that waits for a signal, a tool, and a small model that guesses."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from paste_proxy.config import Config
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import compose
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.server import app_runner
from paste_proxy.testing import ScriptedTools
from tests.proxy.llm_world import PATIENCE_S, STREAM_HEAD, Seen, Upstream, chunked, upstream

POLICY = '[[rule]]\ntool = "lookup"\neffect = "read"\nexpected_s = 2.0\n[[rule]]\ntool = "book"\neffect = "write"\n'
TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
    for name in ("lookup", "book", "secret")
]
Answer = Callable[[dict[str, Any]], Any]


def calling(name: str, /, **arguments: object) -> Answer:
    """An answer of the small model that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "x", "type": "function", "function": function}],
    }
    return saying(message)


def saying(message: dict[str, Any]) -> Answer:
    """An answer of the small model."""
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return lambda _: web.json_response({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage})


@dataclass
class SmallModel:
    """An OpenAI-compatible server. Answers by turns what it is told to; None: not at all."""

    answers: list[Answer | None] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    gone: int = 0
    """Requests whose asker hung up."""
    url: str = ""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.bodies.append(json.loads(await request.read()))
        answer = self.answers[(len(self.bodies) - 1) % len(self.answers)]
        if answer is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.gone += 1
                raise
        assert answer is not None
        made: web.StreamResponse = answer(self.bodies[-1])
        return made


@dataclass
class World:
    """What an agent has in front of it, and the other ends."""

    url: str
    small: SmallModel
    big: Upstream
    tally: Tally
    web: aiohttp.ClientSession
    ran: list[Invocation]
    go: asyncio.Event
    """Until it is set the agent's LLM says nothing."""

    async def turn(self, body: bytes, session: str = "s") -> bytes:
        headers = {"x-paste-session": session, "content-type": "application/json"}
        async with self.web.post(f"{self.url}/v1/chat/completions", data=body, headers=headers) as answer:
            return await answer.read()

    async def thinking(self, body: bytes, until: Callable[[], bool], session: str = "s") -> bytes:
        """A turn over which the agent's LLM thinks until something has happened."""
        self.go.clear()
        turn = asyncio.ensure_future(self.turn(body, session))
        await self.until(until)
        self.go.set()
        return await turn

    async def tool(self, name: str, /, session: str = "s", **arguments: object) -> tuple[str, bytes]:
        address = f"{self.url}/paste/v1/sessions/{session}/tools/{name}"
        async with self.web.post(address, data=json.dumps(arguments)) as answer:
            return answer.headers["x-paste-outcome"], await answer.read()

    async def until(self, happened: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not happened():  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.002)


def asking(*more: dict[str, Any], text: str = "look a up", tools: object = TOOLS) -> bytes:
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": text}, *more]
    return json.dumps({"model": "big", "stream": True, "messages": messages, "tools": tools}).encode()


def stream(name: str, /, **arguments: object) -> list[bytes]:
    """The big model's answer: a call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return [
        *(event({"role": "assistant"}, None), event({"tool_calls": [call]}, None), event({}, "tool_calls")),
        b"data: [DONE]\n\n",
    ]


def event(delta: dict[str, Any], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n"


@asynccontextmanager
async def world(
    folder: Path,
    *answers: Answer | None,
    call: list[bytes] | None = None,
    speculator: dict[str, Any] | None = None,
    without: bool = False,
    mode: str = "speculate",
) -> AsyncIterator[World]:
    """Everything running.

    Args:
        answers: the small model's.
        call: the big model's, every time.
        speculator: further keys of its section.
        without: no speculator is configured.
    """
    ran: list[Invocation] = []
    go = asyncio.Event()

    async def run(invocation: Invocation) -> ToolResult:
        ran.append(invocation)
        return ToolResult(body=json.dumps({"found": invocation.arguments}).encode())

    async def script(_: Seen, writer: asyncio.StreamWriter) -> None:
        await go.wait()
        writer.write(STREAM_HEAD + chunked(*(call or stream("lookup", q="a"))))

    policy = folder / "policy.toml"
    policy.write_text(POLICY)
    small = SmallModel(list(answers))
    async with serving(small), ScriptedTools(run) as tools, upstream(script) as big:
        section = {"base_url": f"{small.url}/v1", "model": "small", **(speculator or {})}
        config = Config.model_validate(
            {
                "llm": [{"path": "/v1", "upstream": f"{big.url}/v1"}],
                "tools": {name: {"url": f"{tools.url}/{name}"} for name in ("lookup", "book", "secret")},
                "policies": [str(policy)],
                "speculation": {"mode": mode},
                **({} if without else {"speculator": section}),
            }
        )
        parts = await asyncio.to_thread(compose, config)
        runner = app_runner(build_app(config, parts))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            async with aiohttp.ClientSession() as client:
                yield World(url, small, big, parts.tally, client, ran, go)
        finally:
            go.set()
            await runner.cleanup()


@asynccontextmanager
async def serving(small: SmallModel) -> AsyncIterator[None]:
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", small.serve)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    small.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield
    finally:
        await runner.cleanup()
