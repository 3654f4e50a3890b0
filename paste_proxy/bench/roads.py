"""The ways a replayed agent's tool calls go through the sidecar: a POST each, MCP, or the Python SDK."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any
from urllib.parse import quote

import aiohttp
import orjson

from paste_proxy.agents.sdk import Sidecar as Sdk
from paste_proxy.errors import OurFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult

MCP_SERVER = "web"
"""The MCP server that research agents call."""
MCP_POLICY = f"""
# What policies/research.toml says of an agent's own tools, said of this server's.
[[rule]]
server = "{MCP_SERVER}"
tool = ["search", "web_search", "visit", "crawl_tool"]
effect = "read"
reads = ["web"]
"""
_PROTOCOL = "2025-06-18"


class DispatchRoad:
    """One POST a call: the sidecar runs the tool."""

    def __init__(self, http: aiohttp.ClientSession, url: str, session: str) -> None:
        self._http = http
        self._base = f"{url}/paste/v1/sessions/{quote(session, safe='')}/tools"

    async def call(self, invocation: Invocation, call_id: str) -> ToolResult:
        """The answer's body and status."""
        url = f"{self._base}/{quote(invocation.tool, safe='')}"
        body = orjson.dumps(invocation.arguments)
        headers = {"content-type": "application/json", "x-paste-call-id": call_id}
        async with self._http.post(url, data=body, headers=headers) as answer:
            status = Status.OK if answer.status < 400 else Status.ERROR
            return ToolResult(body=await answer.read(), status=status, http_status=answer.status)


class McpRoad:
    """An MCP client session over streamable HTTP."""

    def __init__(self, http: aiohttp.ClientSession, url: str, session: str, server: str) -> None:
        self._http, self._url = http, f"{url}/mcp/{server}"
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "x-paste-session": session,
        }
        self._numbers = count(1)

    async def open(self) -> None:
        """Introduce the client and learn the server's tools, as every client does.

        Raises:
            OurFault: the way to the server does not work.
        """
        client = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": {"name": "replay", "version": "1"}}
        await self._request("initialize", client)
        self._headers["mcp-protocol-version"] = _PROTOCOL
        note = orjson.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        async with self._http.post(self._url, data=note, headers=self._headers) as answer:
            await answer.read()
        await self._request("tools/list", {})

    async def call(self, invocation: Invocation, call_id: str) -> ToolResult:
        """The text of the tool's result."""
        result = await self._request("tools/call", {"name": invocation.tool, "arguments": invocation.arguments})
        text = "".join(part["text"] for part in result["content"])
        return ToolResult(body=text.encode(), status=Status.ERROR if result["isError"] else Status.OK)

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        async with self._http.post(self._url, data=orjson.dumps(message), headers=self._headers) as answer:
            body = await answer.read()
            if "mcp-session-id" in answer.headers:
                self._headers["mcp-session-id"] = answer.headers["mcp-session-id"]
            if answer.status != 200:
                raise OurFault(f"MCP {method} was answered {answer.status}: {body[:300]!r}")
        response: dict[str, Any] = orjson.loads(body.rpartition(b"\ndata: ")[2] if _streamed(answer) else body)
        if "result" not in response:
            raise OurFault(f"MCP {method} was answered {body[:300]!r}")
        result: dict[str, Any] = response["result"]
        return result


def _streamed(answer: aiohttp.ClientResponse) -> bool:
    """Whether it is events, of which the last one is the response."""
    return answer.content_type == "text/event-stream"


class ToolFailed(Exception):
    """What a tool that runs in the agent's process raises."""


class SdkRoad:
    """The Python SDK: tools run in the agent's own process."""

    def __init__(
        self, url: str, session: str, tools: Iterable[str], run: Callable[[Invocation], Awaitable[ToolResult]]
    ) -> None:
        async def dispatch(name: str, arguments: dict[str, Any]) -> str:
            result = await run(Invocation(name, arguments))
            text = result.body.decode("utf-8", "surrogatepass")
            if result.status is Status.ERROR:
                raise ToolFailed(text)
            return text

        self.sdk = Sdk(url, session=session)
        self._dispatch = self.sdk.wrap(dispatch, tools=tools)

    async def call(self, invocation: Invocation, call_id: str) -> ToolResult:
        """What the dispatch function returns or raises."""
        with self.sdk.call_id(call_id):
            try:
                text = await self._dispatch(invocation.tool, invocation.arguments)
            except ToolFailed as fault:
                return ToolResult(body=str(fault).encode("utf-8", "surrogatepass"), status=Status.ERROR)
        return ToolResult(body=text.encode("utf-8", "surrogatepass"))


@asynccontextmanager
async def mcp_road(
    http: aiohttp.ClientSession, url: str, session: str, server: str = MCP_SERVER
) -> AsyncIterator[McpRoad]:
    """An open MCP client session."""
    road = McpRoad(http, url, session, server)
    await road.open()
    yield road


@asynccontextmanager
async def sdk_road(
    url: str, session: str, tools: Iterable[str], run: Callable[[Invocation], Awaitable[ToolResult]]
) -> AsyncIterator[SdkRoad]:
    """A connected SDK."""
    road = SdkRoad(url, session, tools, run)
    async with road.sdk:
        yield road
