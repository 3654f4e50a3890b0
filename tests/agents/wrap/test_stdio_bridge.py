"""A stdio server that is one behind the sidecar's address."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from paste_proxy.agents.wrap import stdio_bridge

PATIENCE_S = 20.0


class Endpoint:
    """An MCP endpoint with a session; answers `slow` only once `fast` was answered, `cut` and `hang` never."""

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[tuple[str, str | None, str | None]] = []
        self._fast = asyncio.Event()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.method == "POST" else {}
        name = body.get("method", request.method)
        self.seen.append((name, request.headers.get("Mcp-Session-Id"), request.headers.get("x-paste-session")))
        match name:
            case "initialize":
                return web.json_response(self._of(body, {}), headers={"Mcp-Session-Id": "s1"})
            case "GET":
                return await self._events(request, [{"jsonrpc": "2.0", "method": "notifications/x"}])
            case "slow":
                await asyncio.wait_for(self._fast.wait(), PATIENCE_S)
                return await self._events(
                    request, [{"method": "notifications/progress"}, self._of(body, {"late": "é"})]
                )
            case "cut":
                return await self._events(request, [{"method": "notifications/progress"}])
            case "hang":
                response = await self._events(request, [{"method": "notifications/progress"}])
                await asyncio.Event().wait()
                return response
            case "fast":
                self._fast.set()
                return web.json_response(self._of(body, {}))
            case _:
                return web.Response(status=202)

    def _of(self, body: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": body["id"], "result": result}

    async def _events(self, request: web.Request, messages: list[dict[str, Any]]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for message in messages:
            await response.write(b": hush\r\nevent: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n")
        return response


@asynccontextmanager
async def bridged() -> AsyncIterator[tuple[Endpoint, asyncio.subprocess.Process, web.AppRunner]]:
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_route("*", "/mcp/a", endpoint.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp/a"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", stdio_bridge.__file__, url, "x-paste-session=run"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield endpoint, process, runner
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await runner.cleanup()


async def say(process: asyncio.subprocess.Process, method: str, number: int | None = None) -> None:
    assert process.stdin is not None
    message = {"jsonrpc": "2.0", "method": method, **({} if number is None else {"id": number})}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    await process.stdin.drain()


async def hear(process: asyncio.subprocess.Process) -> dict[str, Any]:
    assert process.stdout is not None
    heard: dict[str, Any] = json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE_S))
    return heard


async def test_messages_pass_in_a_session_and_requests_do_not_wait_for_each_other() -> None:
    async with bridged() as (endpoint, process, _):
        await say(process, "initialize", 1)
        first = [await hear(process), await hear(process)]
        assert {message.get("id", message.get("method")) for message in first} == {1, "notifications/x"}
        await say(process, "notifications/initialized")
        await say(process, "slow", 2)
        await say(process, "fast", 3)
        later = [await hear(process) for _ in range(3)]
        assert {message["id"]: message["result"] for message in later if "id" in message} == {2: {"late": "é"}, 3: {}}
        assert process.stdin is not None
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
    assert {tag for _, _, tag in endpoint.seen} == {"run"}
    assert endpoint.seen[0][:2] == ("initialize", None)
    assert {session for _, session, _ in endpoint.seen[1:]} == {"s1"}
    assert endpoint.seen[-1][0] == "DELETE"


async def test_when_the_sidecar_is_gone_it_ends_as_a_dead_server_does() -> None:
    async with bridged() as (_, process, runner):
        await runner.cleanup()
        await say(process, "initialize", 1)
        assert (await hear(process))["id"] == 1
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 1


async def test_a_sidecar_that_ends_within_an_answer_leaves_no_call_unanswered() -> None:
    async with bridged() as (_, process, runner):
        for number in (7, 8):
            await say(process, "hang", number)
            assert (await hear(process))["method"] == "notifications/progress"
        await say(process, "hang", 9)
        await hear(process)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
        assert process.stdin is not None
        process.stdin.write(json.dumps(cancelled).encode() + b"\n")
        await say(process, "fast", 10)
        assert (await hear(process))["id"] == 10
        await runner.cleanup()
        errors = [await hear(process), await hear(process)]
        assert {error["id"] for error in errors} == {7, 8}
        assert all("may have been carried out" in error["error"]["message"] for error in errors)
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 1


async def test_an_answer_without_a_response_is_an_error_and_the_bridge_goes_on() -> None:
    async with bridged() as (_, process, _):
        await say(process, "cut", 5)
        assert [(await hear(process)).get("id"), (await hear(process))["error"]["code"]] == [None, -32000]
        await say(process, "fast", 6)
        assert (await hear(process))["id"] == 6


async def test_a_client_that_closes_its_end_early_gets_its_answers() -> None:
    async with bridged() as (endpoint, process, _):
        await say(process, "slow", 2)
        await say(process, "fast", 3)
        assert process.stdin is not None
        process.stdin.close()
        assert process.stdout is not None
        rest = await asyncio.wait_for(process.stdout.read(), PATIENCE_S)
        assert {json.loads(line).get("id") for line in rest.splitlines()} == {2, 3, None}
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
    assert {name for name, _, _ in endpoint.seen} == {"slow", "fast"}
