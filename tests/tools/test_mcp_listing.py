"""The speculative session lists the server's tools: page by page, to the end, and as the live client would ask."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.errors import UpstreamFault
from paste_proxy.tools.mcp_client import McpClient
from paste_proxy.tools.mcp_hello import Hello
from paste_proxy.tools.mcp_http_link import HttpLink
from paste_proxy.tools.mcp_link import Answerer, Link
from tests.proxy.mcp.parts import listen
from tests.tools.test_mcp_client import HELLO, MODERN


@asynccontextmanager
async def listing(hello: Hello, *pages: Any) -> AsyncIterator[tuple[McpClient, list[Any]]]:
    """A client of a server that answers `tools/list` with these results, the last of them again and again."""
    asked: list[Any] = []

    async def serve(request: web.Request) -> web.Response:
        message = json.loads(await request.read() or b"{}")
        if "id" not in message:
            return web.Response(status=202)
        if message["method"] == "initialize":
            return web.json_response({"id": message["id"], "result": {"protocolVersion": "2025-06-18"}})
        asked.append(message.get("params", {}))
        page = pages[min(len(asked), len(pages)) - 1]
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], **page})

    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_route("*", "/", serve)
        url = await listen(stack, app)
        http = await stack.enter_async_context(aiohttp.ClientSession())

        async def connect(answerer: Answerer) -> Link:
            return HttpLink(http, url, tuple, answerer, answer_bytes=2**20)

        client = McpClient("s", connect, lambda: replace(hello, headers=()), dict)
        stack.push_async_callback(client.close)
        yield client, asked


def page(name: str, cursor: str | None = None) -> dict[str, Any]:
    return {"result": {"tools": [{"name": name}], **({"nextCursor": cursor} if cursor else {})}}


@pytest.mark.parametrize("hello", [HELLO, MODERN])
async def test_every_page_is_asked_for(hello: Hello) -> None:
    async with listing(hello, page("a", "é2"), page("b")) as (client, asked):
        assert [tool.name for tool in await client.list_tools()] == ["a", "b"]
    assert [one.get("cursor") for one in asked] == [None, "é2"]
    introductions = [one.get("_meta") for one in asked]
    assert introductions == ([json.loads(MODERN.introduction)] * 2 if hello is MODERN else [None, None])


@pytest.mark.parametrize("answer", [page("a", "on"), {"error": {"code": -32601, "message": "no"}}])
async def test_a_list_without_end_and_a_refused_one_are_faults(answer: dict[str, Any]) -> None:
    async with listing(HELLO, answer) as (client, asked):
        with pytest.raises(UpstreamFault, match="does not list its tools"):
            await client.list_tools()
    assert len(asked) <= 100
