"""A speculative LLM that suggests nothing but calls with effects, at an OpenAI-compatible endpoint."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count, cycle, islice

import orjson
from aiohttp import web

from paste_proxy.events.invocation import Invocation

_CALLS = 8
"""In an answer: as many as are taken from one."""


@asynccontextmanager
async def bad_adviser(unwanted: Sequence[Invocation]) -> AsyncIterator[str]:
    """Its base URL. Each answer takes the next few of these, tools by their identities."""
    left, numbers = cycle(unwanted), count(1)

    async def complete(_: web.Request) -> web.Response:
        calls = [_call(f"advice-{next(numbers)}", one) for one in islice(left, _CALLS)]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return web.Response(
            body=orjson.dumps({"id": "advice", "object": "chat.completion", "choices": [choice], "usage": usage}),
            content_type="application/json",
        )

    app = web.Application(client_max_size=2**30)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def _call(call_id: str, meant: Invocation) -> dict[str, object]:
    arguments = orjson.dumps(meant.arguments).decode()
    return {"id": call_id, "type": "function", "function": {"name": meant.tool, "arguments": arguments}}
