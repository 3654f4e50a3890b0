"""An MCP server over streamable HTTP, of both eras at one endpoint, that can be made to do what real ones seldom do."""

import asyncio
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from aiohttp import web

VERSION = "io.modelcontextprotocol/protocolVersion"
TOOLS = ("look", "count", "silent", "where", "ask", "big", "fail")
Json = dict[str, Any]


@dataclass
class Session:
    """What the server holds of a client of the session era."""

    counted: int = 0
    own: "asyncio.Queue[Json | None]" = field(default_factory=asyncio.Queue)
    roots: Any = None


@dataclass
class Request:
    """What arrived."""

    verb: str
    method: str
    headers: dict[str, str]
    message: Json

    @property
    def session(self) -> str | None:
        return self.headers.get("Mcp-Session-Id")


class McpHttpServer:
    """Serve `handle` under any path."""

    def __init__(self) -> None:
        self.seen: list[Request] = []
        self.sessions: dict[str, Session] = {}
        self.tools: dict[str, Json] = {name: {"type": "object"} for name in TOOLS}
        self.knows_unknown = True
        """Whether an argument that the schema does not name is dropped unread; else the call is refused."""
        self.asks_roots = False
        self.release = asyncio.Event()
        self.dropped = Counter[str]()
        """Calls whose client closed the connection."""
        self.subscribed: asyncio.Queue[Json | None] = asyncio.Queue()
        """What subscribers of the stateless era are told."""
        self._numbers = count(1)

    def calls(self, name: str) -> list[Request]:
        """The calls of that tool that arrived."""
        return [one for one in self.seen if one.message.get("params", {}).get("name") == name]

    async def tell(self, session: str, message: Json) -> None:
        """Send something on the session's own stream."""
        await self.sessions[session].own.put({"jsonrpc": "2.0", **message})

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        message = json.loads(raw) if raw else {}
        if isinstance(message, list):
            return web.json_response([self._result(one, self._look(one)) for one in message])
        self.seen.append(Request(request.method, message.get("method", ""), dict(request.headers), message))
        meta = message.get("params", {}).get("_meta", {})
        if VERSION in meta:
            return await self._stateless(request, message, meta)
        if message.get("method") == "initialize":
            return self._open(message)
        session = self.sessions.get(request.headers.get("Mcp-Session-Id", ""))
        if session is None:
            return self._error(message, 404, -32001, "Session not found")
        match request.method:
            case "GET":
                return await self._stream(request, session.own)
            case "DELETE":
                del self.sessions[request.headers["Mcp-Session-Id"]]
                return web.Response()
            case _:
                return await self._in_session(request, session, message)

    def _open(self, message: Json) -> web.Response:
        name = f"session-{next(self._numbers)}"
        self.sessions[name] = Session()
        version = message["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {}}
        return web.json_response(self._result(message, result), headers={"Mcp-Session-Id": name})

    async def _stream(self, request: web.Request, messages: "asyncio.Queue[Json | None]") -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b": open\n\n")
        with suppress(ConnectionError):
            while (message := await messages.get()) is not None:
                await response.write(b"data: " + json.dumps(message).encode() + b"\n\n")
        return response

    async def _in_session(self, request: web.Request, session: Session, message: Json) -> web.StreamResponse:
        if "method" not in message:
            session.roots = message.get("result")
            return web.Response(status=202)
        if "id" not in message:
            if message["method"] == "notifications/initialized" and self.asks_roots:
                await session.own.put({"jsonrpc": "2.0", "id": "r1", "method": "roots/list"})
            return web.Response(status=202)
        return await self._answer(request, session, message)

    async def _stateless(self, request: web.Request, message: Json, meta: Json) -> web.StreamResponse:
        due = {"MCP-Protocol-Version": meta[VERSION], "Mcp-Method": message["method"]}
        if message["method"] == "tools/call":
            due["Mcp-Name"] = message["params"]["name"]
        if any(request.headers.get(name) != value for name, value in due.items()):
            return self._error(message, 400, -32020, "header mismatch")
        if meta[VERSION] != "2026-07-28":
            return self._error(message, 400, -32022, "unsupported version")
        if message["method"] == "subscriptions/listen":
            return await self._stream(request, self.subscribed)
        return await self._answer(request, Session(), message)

    async def _answer(self, request: web.Request, session: Session, message: Json) -> web.StreamResponse:
        match message["method"]:
            case "tools/list":
                listed = [{"name": name, "inputSchema": schema} for name, schema in self.tools.items()]
                return web.json_response(self._result(message, {"tools": listed, "ttlMs": 5, "cacheScope": "private"}))
            case "tools/call":
                return await self._call(request, session, message)
            case _:
                return self._error(message, 404, -32601, "no such method")

    async def _call(self, request: web.Request, session: Session, message: Json) -> web.StreamResponse:
        name = message["params"]["name"]
        if name not in self.tools:
            return self._error(message, 200, -32602, "Unknown tool")
        if name == "silent":
            return await self._silent(request, message)
        if name == "ask":
            wanted = {"resultType": "input_required", "requestState": "s", "inputRequests": {}}
            given = "inputResponses" in message["params"]
            return web.json_response(self._result(message, self._text("thanks") if given else wanted))
        if name == "count":
            session.counted += 1
        said = {"where": json.dumps(session.roots), "count": str(session.counted), "big": "x" * 12 * 2**20}
        result = self._text(said[name], bad=False) if name in said else self._look(message)
        return web.json_response(self._result(message, result | {"isError": name == "fail" or result["isError"]}))

    async def _silent(self, request: web.Request, message: Json) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        if "before" in message["params"].get("arguments", {}):
            await response.prepare(request)
            await response.write(message["params"]["arguments"]["before"].encode())
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.dropped["silent"] += 1
            raise
        if not response.prepared:
            return web.json_response(self._result(message, self._text("at last")))
        await response.write(b"data: " + json.dumps(self._result(message, self._text("at last"))).encode() + b"\n\n")
        return response

    def _look(self, message: Json) -> Json:
        arguments = dict(message["params"].get("arguments") or {})
        named = self.tools[message["params"]["name"]].get("properties", {})
        unknown = arguments.keys() - named.keys() - {"k"}
        if unknown and not self.knows_unknown:
            return self._text("unknown arguments", bad=True)
        return self._text(f"looked {json.dumps({k: v for k, v in arguments.items() if k not in unknown})}")

    @staticmethod
    def _text(text: str, *, bad: bool = False) -> Json:
        return {"content": [{"type": "text", "text": text}], "isError": bad}

    @staticmethod
    def _result(message: Json, result: Json) -> Json:
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    @staticmethod
    def _error(message: Json, status: int, code: int, words: str) -> web.Response:
        error = {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": code, "message": words}}
        return web.json_response(error, status=status)
