"""A stateful world of tools and an LLM that misbehaves, alike in every run of one seed."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from zlib import crc32

from aiohttp import web

READ, WRITE, UNRULED = "read", "write", "mystery"


@dataclass(frozen=True)
class Asked:
    """A tool call of the plan."""

    tool: str
    arguments: dict[str, Any]
    leaves: bool = False
    """The agent hangs up while the call is under way."""


@dataclass(frozen=True)
class Turn:
    """What the LLM says in a turn, and how that fails the first time."""

    text: str
    calls: tuple[Asked, ...]
    fault: str = ""
    """`cut`, `refused`, `length`, or `left`: the agent hangs up."""
    cut_at: float = 0.0
    """The share of the answer that comes before."""


@dataclass
class Database:
    """Values by space and key; writes are noted in their order."""

    values: dict[tuple[str, str], int] = field(default_factory=dict)
    written: dict[str, list[str]] = field(default_factory=dict)
    busy: int = 0
    ran: Counter[str] = field(default_factory=Counter)

    async def run(self, tool: str, arguments: dict[str, Any]) -> tuple[int, bytes]:
        """Status and body; takes the value, or writes it, in the middle of its time."""
        half_s = crc32(f"{tool}{sorted(arguments.items())}".encode()) % 8 / 1_000
        self.busy += 1
        try:
            await asyncio.sleep(half_s)
            answer = self._act(tool, arguments)
            await asyncio.sleep(half_s)
            return answer
        finally:
            self.busy -= 1

    def _act(self, tool: str, arguments: dict[str, Any]) -> tuple[int, bytes]:
        space, key = str(arguments.get("space")), str(arguments.get("key"))
        before = self.values.get((space, key), 0)
        self.ran[tool] += 1
        if tool != READ:
            self.values[space, key] = before * 31 + int(arguments.get("value", 1))
            self.written.setdefault(space, []).append(json.dumps([tool, arguments]))
        said = json.dumps({"space": space, "key": key, "value": before, "é": "\ud83d\ude00"}).encode()
        match key:
            case "bad":
                return 500, said
            case "bytes":
                return 200, b"\xff\xfe" + said
            case "empty":
                return 200, b""
            case "big":
                return 200, said * 3_000
            case _:
                return 200, said


@dataclass
class World:
    """The plans of all sessions, the tools' state, and how often each turn was asked for."""

    plans: dict[str, list[Turn]]
    database: Database = field(default_factory=Database)
    tries: Counter[tuple[str, int]] = field(default_factory=Counter)
    talking: int = 0

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """The LLM."""
        body = await request.json()
        space, number = body["metadata"]["plan"], body["metadata"]["turn"]
        turn = self.plans[space][number]
        self.tries[space, number] += 1
        fault = turn.fault if self.tries[space, number] == 1 else ""
        self.talking += 1
        try:
            return await self._say(request, turn, fault, Random(f"{space} {number}"))
        finally:
            self.talking -= 1

    async def _say(self, request: web.Request, turn: Turn, fault: str, chance: Random) -> web.StreamResponse:
        if fault == "refused":
            return web.json_response({"error": {"message": "overloaded"}}, status=529)
        whole = stream(turn, cut_for_length=fault == "length")
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        end = int(len(whole) * turn.cut_at) if fault == "cut" else len(whole)
        at = 0
        while at < end:
            size = chance.randint(1, 180)
            await response.write(whole[at : min(at + size, end)])
            at += size
            await asyncio.sleep(0.001)
        if fault == "cut" and request.transport is not None:
            request.transport.close()
        return response

    async def dispatched(self, request: web.Request) -> web.Response:
        """A tool behind a URL."""
        status, body = await self.database.run(request.match_info["tool"], await request.json())
        return web.Response(status=status, body=body, content_type="application/json")

    async def mcp(self, request: web.Request) -> web.Response:
        """The same tools behind MCP."""
        message = await request.json()
        if "id" not in message:
            return web.Response(status=202)
        params = message.get("params") or {}
        match message["method"]:
            case "initialize":
                info = {"name": "db", "version": "1"}
                result: dict[str, Any] = {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {},
                    "serverInfo": info,
                }
            case "tools/list":
                result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in (READ, WRITE)]}
            case _:
                status, body = await self.database.run(params["name"], params["arguments"])
                content = [{"type": "text", "text": body.decode("latin-1")}]
                result = {"content": content, "isError": status >= 400}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        """Everything on one port of the loopback."""
        app = web.Application(client_max_size=2**30)
        app.router.add_post("/v1/chat/completions", self.complete)
        app.router.add_post("/tools/{tool}", self.dispatched)
        app.router.add_post("/mcp", self.mcp)
        async with listening(web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1)) as url:
            yield url


@asynccontextmanager
async def listening(runner: web.AppRunner) -> AsyncIterator[str]:
    """Serve on a free port; the base URL."""
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1_024).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def stream(turn: Turn, *, cut_for_length: bool) -> bytes:
    """The bytes of an answer; one that ended for length lacks the end of its last call."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": turn.text}]
    for index, call in enumerate(turn.calls):
        arguments = json.dumps(call.arguments)
        head = {"index": index, "id": f"call_{index}", "type": "function"}
        deltas.append({"tool_calls": [{**head, "function": {"name": call.tool, "arguments": ""}}]})
        whole = arguments[:-3] if cut_for_length and call is turn.calls[-1] else arguments
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": whole[at : at + 9]}}]}
            for at in range(0, len(whole), 9)
        ]
    events: list[Any] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    finish = "length" if cut_for_length else "tool_calls" if turn.calls else "stop"
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    lines = [json.dumps(event, ensure_ascii=False).encode() for event in events]
    return b"".join(b"data: " + line + b"\r\n\r\n" for line in [*lines, b"[DONE]"])


Act = Callable[[Asked, str], Awaitable[Any]]
"""Makes a call, with the id that the LLM gave it; what the agent sees."""


def plan(space: str, prefix: str, turns: int, chance: Random) -> list[Turn]:
    """What one session does: reads much, writes some of what it reads, and now and then fails."""
    return [_turn(space, prefix, chance) for _ in range(turns)]


def _turn(space: str, prefix: str, chance: Random) -> Turn:
    calls = tuple(_call(space, prefix, chance) for _ in range(chance.choice([1, 1, 1, 2, 3])))
    fault = chance.choice(["", "", "", "", "", "cut", "refused", "length", "left"])
    return Turn("ü😀" * chance.randint(1, 12), calls, fault, chance.random())


def _call(space: str, prefix: str, chance: Random) -> Asked:
    key = chance.choice(["a", "a", "a", "b", "bad", "bytes", "empty", "big"])
    kind = chance.choices([READ, WRITE, UNRULED], [70, 29, 1 if not prefix else 0])[0]
    arguments: dict[str, Any] = {"space": space, "key": key}
    if kind != READ:
        arguments["value"] = chance.randint(0, 99)
    return Asked(prefix + kind, arguments, leaves=kind == READ and chance.random() < 0.08)
