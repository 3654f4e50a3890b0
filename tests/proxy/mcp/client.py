"""A client of streamable HTTP, by hand."""

import json
from typing import Any

import aiohttp

from paste_proxy.wire.sse import SseDecoder

BOTH = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
Json = dict[str, Any]


class McpHttpClient:
    """One client of a server behind `url`."""

    def __init__(self, http: aiohttp.ClientSession, url: str, **headers: str) -> None:
        self.http, self.url = http, url
        self.headers = {**BOTH, **headers}
        self.status = 0
        self.form = ""

    async def open(self, *, version: str = "2025-11-25", capabilities: Json | None = None) -> "McpHttpClient":
        """Open a session and list the tools."""
        params = {
            "protocolVersion": version,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        self.headers.pop("Mcp-Session-Id", None)
        async with self.http.post(self.url, json=rpc("initialize", params, 0), headers=self.headers) as answer:
            self.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
            await answer.read()
        await self.send(rpc("notifications/initialized", {}))
        await self.tools()
        return self

    async def tools(self) -> list[str]:
        """The names of the tools."""
        listed = (await self.send(rpc("tools/list", {}, 1)))[-1]
        return [tool["name"] for tool in listed["result"]["tools"]]

    async def call(self, name: str, number: Any = 7, /, **arguments: Any) -> Json:
        """A call's response."""
        return (await self.send(rpc("tools/call", {"name": name, "arguments": arguments}, number)))[-1]

    async def call_stateless(self, name: str, number: Any = 7, /, **arguments: Any) -> Json:
        """The same in the stateless era."""
        params = {"name": name, "arguments": arguments, "_meta": META}
        own = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
        return (await self.send(rpc("tools/call", params, number), **own))[-1]

    async def send(self, message: Json | list[Json], **headers: str) -> list[Json]:
        """Send a message; what is answered, and `status` and `form` of the answer."""
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.http.post(self.url, json=message, headers={**self.headers, **own}) as answer:
            body = await answer.read()
            self.status, self.form = answer.status, answer.content_type
        if self.form == "text/event-stream":
            return [json.loads(event.data) for event in SseDecoder(2**30).feed(body)]
        return [json.loads(body)] if body else []


def rpc(method: str, params: Json, number: Any = None) -> Json:
    """A request, or without a number a notification."""
    return {"jsonrpc": "2.0", **({} if number is None else {"id": number}), "method": method, "params": params}


def said(response: Json) -> str:
    """The text of a result."""
    return str(response["result"]["content"][0]["text"])
