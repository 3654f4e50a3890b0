"""Fakes for tests, demos and benchmarks; part of the package so that users can test against them too."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aiohttp import web

from paste_proxy.clock import FakeClock
from paste_proxy.events.invocation import Invocation, read_arguments
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome
from paste_proxy.proxy.ports import NO_ARGUMENTS, AgentCall, Decision, RunIt, ServeIt
from paste_proxy.speculation.hints import NO_HINTS, Hints
from paste_proxy.tools.backend import Backend

__all__ = ["FakeClock", "FakeGate", "ScriptedAnswer", "ScriptedLlm", "ScriptedMcp", "ScriptedTools"]

_SHORTEST_PAUSE_S = 0.01
"""Chunks of a stream lie at least this far apart; a faster stream has larger chunks."""


class FakeGate:
    """A `ToolGate` that serves what it was given, by canonical key, and lets everything else run."""

    def __init__(self, ready: dict[str, ToolResult] | None = None) -> None:
        self.ready = ready or {}
        self.asked: list[AgentCall] = []
        self.over: dict[int, ToolResult | None] = {}
        self.offers: dict[tuple[str, str], tuple[Backend, tuple[str, ...]]] = {}
        self.hints: dict[str, Hints] = {}
        """What was said of each tool last."""

    async def ask(self, call: AgentCall) -> Decision:
        """Serve a ready result once, else run."""
        self.asked.append(call)
        result = self.ready.pop(call.invocation.key, None)
        if result is not None:
            return ServeIt(result=result, outcome=Outcome.REUSED, job=len(self.asked))
        return RunIt(ticket=len(self.asked))

    def ended(self, ticket: int, result: ToolResult | None) -> None:
        """Note the end of a call; a second end of one ticket is an error of the route."""
        if ticket in self.over:
            raise AssertionError(f"ticket {ticket} ended twice")
        self.over[ticket] = result

    def offer(
        self,
        scope: str,
        server: str,
        backend: Backend,
        tools: Iterable[str],
        *,
        session: str | None = None,
        beside: Mapping[str, frozenset[str]] = NO_ARGUMENTS,
        hints: Mapping[str, Hints] = NO_HINTS,
    ) -> None:
        """Note an offer."""
        self.offers[scope, server] = (backend, tuple(tools))
        self.hints.update(hints)

    def withdraw(self, scope: str) -> None:
        """Forget a scope's offers."""
        self.offers = {key: offer for key, offer in self.offers.items() if key[0] != scope}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAnswer:
    """One answer of a `ScriptedLlm`."""

    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    """Tool calls: id, name, arguments as text."""
    first_token_s: float = 0.0
    stream_s: float = 0.0
    """Seconds from the first chunk to the last."""
    id: str = "chatcmpl-scripted"

    def chunks(self) -> list[bytes]:
        """The event stream, as the chunks it is sent in; four characters are a token."""
        opening: dict[str, object] = {"role": "assistant", "content": ""}
        deltas = list(self._deltas(self._piece()))
        finish = "tool_calls" if self.calls else "stop"
        return [
            *(self._event(delta, None) for delta in (opening, *deltas)),
            self._event({}, finish),
            b"data: [DONE]\n\n",
        ]

    def _piece(self) -> int:
        characters = len(self.text) + sum(len(arguments) for _, _, arguments in self.calls)
        chunks = max(1.0, self.stream_s / _SHORTEST_PAUSE_S)
        return max(4, round(characters / chunks))

    def _deltas(self, piece: int) -> Iterator[dict[str, object]]:
        for start in range(0, len(self.text), piece):
            yield {"content": self.text[start : start + piece]}
        for index, (call_id, name, arguments) in enumerate(self.calls):
            head = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
            yield {"tool_calls": [head]}
            for start in range(0, len(arguments), piece):
                part = {"index": index, "function": {"arguments": arguments[start : start + piece]}}
                yield {"tool_calls": [part]}

    def _event(self, delta: dict[str, object], finish: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "scripted",
            "choices": [choice],
        }
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"


class _Server:
    """A loopback HTTP server with one handler; an async context manager that knows its `url`."""

    def __init__(self, path: str, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        app = web.Application(client_max_size=2**30)
        app.router.add_post(path, handler)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1)
        self.url = ""

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()


class ScriptedLlm(_Server):
    """An OpenAI Chat Completions server that streams what `answer` gives for each request body."""

    def __init__(self, answer: Callable[[bytes], ScriptedAnswer]) -> None:
        super().__init__("/v1/chat/completions", self._complete)
        self._answer = answer

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        began = asyncio.get_running_loop().time()
        answer = self._answer(await request.read())
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await _until(began + answer.first_token_s)
        with suppress(ConnectionError):
            await response.prepare(request)
            chunks = answer.chunks()
            for order, chunk in enumerate(chunks):
                await _until(began + answer.first_token_s + answer.stream_s * order / len(chunks))
                await response.write(chunk)
            await response.write_eof()
        return response


class ScriptedTools(_Server):
    """Tools behind HTTP: arguments POSTed to `{url}/{tool}` are run by `run`."""

    def __init__(self, run: Callable[[Invocation], Awaitable[ToolResult]]) -> None:
        super().__init__("/{tool}", self._call)
        self._run = run

    async def _call(self, request: web.Request) -> web.StreamResponse:
        invocation = Invocation(request.match_info["tool"], read_arguments(await request.read()))
        result = await self._run(invocation)
        status = result.http_status if result.status is Status.OK else max(result.http_status, 500)
        return web.Response(body=result.body, status=status, headers={"content-type": result.content_type})


class ScriptedMcp(_Server):
    """An MCP server over streamable HTTP at `{url}/mcp`: initialize, tools/list, and tools/call run by `run`.

    Args:
        tools: names of its tools; each takes any object and is annotated as read-only.
        run: gets the bare tool name and its arguments.
    """

    def __init__(self, tools: Iterable[str], run: Callable[[Invocation], Awaitable[ToolResult]]) -> None:
        super().__init__("/mcp", self._message)
        self._tools, self._run = tuple(tools), run
        self._sessions = 0

    async def _message(self, request: web.Request) -> web.StreamResponse:
        message = json.loads(await request.read())
        if "id" not in message:
            return web.Response(status=202)
        method, params = message["method"], message.get("params", {})
        answer: dict[str, object] = {"jsonrpc": "2.0", "id": message["id"]}
        headers = {}
        match method:
            case "initialize":
                self._sessions += 1
                headers["mcp-session-id"] = f"scripted-{self._sessions}"
                answer["result"] = {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scripted", "version": "1"},
                }
            case "tools/list":
                answer["result"] = {"tools": [self._tool(name) for name in self._tools]}
            case "tools/call":
                answer["result"] = await self._call(Invocation(params["name"], params.get("arguments") or {}))
            case "ping":
                answer["result"] = {}
            case _:
                answer["error"] = {"code": -32601, "message": f"no method {method}"}
        return web.json_response(answer, headers=headers)

    def _tool(self, name: str) -> dict[str, object]:
        return {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}

    async def _call(self, invocation: Invocation) -> dict[str, object]:
        result = await self._run(invocation)
        text = result.body.decode("utf-8", "replace")
        return {"content": [{"type": "text", "text": text}], "isError": result.status is Status.ERROR}


async def _until(moment: float) -> None:
    """Wait until a time of the running loop's clock."""
    await asyncio.sleep(max(0.0, moment - asyncio.get_running_loop().time()))
