"""Tool servers: whose next answers go wrong in every way in which one can, that keep a value, that boast."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from aiohttp import web

from tests.proxy.mcp.http_server import McpHttpServer, Session
from tests.proxy.mcp.parts import listen

Json = dict[str, Any]
Failure = Callable[[web.Request, bytes], Awaitable[web.StreamResponse]]
"""What becomes of an answer that would have had this body."""


def status(number: int, **headers: str) -> Failure:
    """The whole body, but under another status."""

    async def fail(_: web.Request, whole: bytes) -> web.StreamResponse:
        return web.Response(status=number, body=whole, content_type="application/json", headers=headers)

    return fail


def instead(body: bytes, content_type: str = "application/json", number: int = 200) -> Failure:
    async def fail(_: web.Request, whole: bytes) -> web.StreamResponse:
        return web.Response(status=number, body=body, content_type=content_type)

    return fail


def cut(share: float, *, chunked: bool = False) -> Failure:
    """The first part of the body, and then the connection is closed."""

    async def fail(request: web.Request, whole: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if not chunked:
            response.content_length = len(whole)
        await response.prepare(request)
        await response.write(whole[: int(share * len(whole))])
        assert request.transport is not None
        request.transport.close()
        return response

    return fail


async def half(_: web.Request, whole: bytes) -> web.StreamResponse:
    """Half of the body, as if it were all of it."""
    return web.Response(body=whole[: len(whole) // 2], content_type="application/json")


async def half_an_event(request: web.Request, whole: bytes) -> web.StreamResponse:
    """An event stream that ends, cleanly, within its only event."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"event: message\ndata: " + whole[: len(whole) // 2])
    await response.write_eof()
    return response


async def no_answer(request: web.Request, whole: bytes) -> web.StreamResponse:
    """Nothing at all."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


def result(change: Json) -> Failure:
    """The JSON-RPC response with these members of its result changed."""

    async def fail(_: web.Request, whole: bytes) -> web.StreamResponse:
        message = json.loads(whole)
        return web.json_response({**message, "result": {**message["result"], **change}})

    return fail


async def refused(_: web.Request, whole: bytes) -> web.StreamResponse:
    error = {"code": -32603, "message": "permission denied"}
    return web.json_response({"jsonrpc": "2.0", "id": json.loads(whole)["id"], "error": error})


OVER_HTTP: dict[str, Failure] = {
    "status 500": status(500),
    "status 502": instead(b"<html>bad gateway</html>", "text/html", 502),
    "status 403": status(403),
    "cut": cut(0.5),
    "cut before its last byte": cut(0.99),
    "cut between chunks": cut(0.5, chunked=True),
    "no answer": no_answer,
}
"""What can go wrong with an answer that is only a body."""

OF_MCP: dict[str, Failure] = {
    **OVER_HTTP,
    "isError": result({"isError": True, "content": [{"type": "text", "text": "permission denied"}]}),
    "isError as a text": result({"isError": "true"}),
    "a JSON-RPC error": refused,
    "status 500 with an error": instead(b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', number=500),
    "status 202": instead(b"", number=202),
    "nothing in it": instead(b""),
    "half of it": half,
    "half an event": half_an_event,
    "input wanted": result({"resultType": "input_required", "inputRequests": {}}),
    "a task of it": result({"task": {"taskId": "t", "status": "working"}}),
}


class Failing(McpHttpServer):
    """Its answers to `look` fail as `next` says, as long as there is something in it."""

    def __init__(self) -> None:
        super().__init__()
        self.next: deque[Failure] = deque()
        self.gate = asyncio.Event()
        """Answers wait for it."""
        self.gate.set()

    async def _call(self, request: web.Request, session: Session, message: Json) -> web.StreamResponse:
        await self.gate.wait()
        answer = await super()._call(request, session, message)
        if message["params"]["name"] == "look" and self.next:
            assert isinstance(answer, web.Response)
            assert isinstance(answer.body, bytes)
            return await self.next.popleft()(request, answer.body)
        return answer


class FailingTool:
    """A tool behind a URL that does the same."""

    def __init__(self) -> None:
        self.next: deque[Failure] = deque()
        self.bodies: list[bytes] = []
        """Of the requests that came."""
        self.gate = asyncio.Event()
        self.gate.set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.read())
        number, failure = len(self.bodies), self.next.popleft() if self.next else None
        await self.gate.wait()
        whole = f"answer {number}, and what else is in it".encode()
        return web.Response(body=whole) if failure is None else await failure(request, whole)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Its URL."""
        async with AsyncExitStack() as stack:
            app = web.Application(client_max_size=0)
            app.router.add_post("/tool", self.handle)
            yield await listen(stack, app) + "/tool"


class Store(McpHttpServer):
    """Keeps one value: `get` reads it, and every other tool adds 1 to it, at its end."""

    def __init__(self, *writing: str) -> None:
        super().__init__()
        self.tools = {name: {"type": "object"} for name in ("get", *writing)}
        self.value = 0
        self.begun = Counter[str]()
        self.gates: dict[str, asyncio.Event] = {}
        """A tool that has one waits for it."""

    def hold(self, tool: str) -> asyncio.Event:
        self.gates[tool] = asyncio.Event()
        return self.gates[tool]

    async def _call(self, request: web.Request, session: Session, message: Json) -> web.StreamResponse:
        name = message["params"]["name"]
        said = self._text(f"value {self.value}")
        self.begun[name] += 1
        if name in self.gates:
            await self.gates[name].wait()
        if name != "get":
            self.value += 1
            said = self._text("done")
        return web.json_response(self._result(message, said))


class Naming(McpHttpServer):
    """A server with these tools, which says of all that they only read."""

    def __init__(self, *tools: str) -> None:
        super().__init__()
        self.tools = {name: {"type": "object", "properties": {"q": {}, "n": {}}} for name in tools}

    async def _answer(self, request: web.Request, session: Any, message: dict[str, Any]) -> web.StreamResponse:
        if message["method"] != "tools/list":
            return await super()._answer(request, session, message)
        hints = {"readOnlyHint": True, "openWorldHint": False}
        listed = [{"name": name, "inputSchema": schema, "annotations": hints} for name, schema in self.tools.items()]
        return web.json_response(self._result(message, {"tools": listed}))
