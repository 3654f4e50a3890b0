"""A scripted Chat Completions endpoint that answers whole, by how much of its script a history holds."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Message = dict[str, Any]
Script = Callable[[list[Message]], Message]
"""Gives the answer to a history."""


@dataclass(slots=True)
class Chat:
    """A running endpoint."""

    port: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of its requests."""

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def chat(script: Script, *, takes_s: float) -> AsyncIterator[Chat]:
    """Serve a script; each answer takes so many seconds."""
    served = Chat()

    async def complete(request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        served.asked.append(body)
        await asyncio.sleep(takes_s)
        message = {"role": "assistant", "content": None, **script(body["messages"])}
        choice = {"index": 0, "message": message, "logprobs": None}
        choice["finish_reason"] = "tool_calls" if message.get("tool_calls") else "stop"
        answer = {"id": f"c-{len(served.asked)}", "object": "chat.completion", "created": 0, "model": body["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return web.json_response({**answer, "choices": [choice], "usage": usage})

    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.port = runner.addresses[0][1]
    try:
        yield served
    finally:
        await runner.cleanup()


def one_by_one(turns: Sequence[Message]) -> Script:
    """One answer after the other, whatever is asked."""
    left = iter(turns)
    return lambda _: next(left)


def calling(*calls: tuple[str, str, dict[str, Any]]) -> Message:
    """An answer that calls tools: id, name, arguments."""
    return {
        "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for call_id, name, arguments in calls
        ]
    }
