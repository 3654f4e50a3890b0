"""What a server of the stateless era tells on a subscription is heard however long that runs."""

from contextlib import AsyncExitStack

import aiohttp
from aiohttp import web

from paste_proxy.config import Limits, McpServer
from paste_proxy.testing import FakeGate
from tests.proxy.mcp.client import META, McpHttpClient, rpc
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import listen, sidecar, until


async def test_tools_that_changed_are_off_the_offer_after_more_than_an_answer_may_have() -> None:
    server, gate = McpHttpServer(), FakeGate()
    own = {"MCP-Protocol-Version": "2026-07-28"}
    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_route("*", "/mcp", server.handle)
        there = McpServer(url=await listen(stack, app) + "/mcp")
        limits = Limits(observed_answer_bytes=2_000)
        base = await stack.enter_async_context(sidecar(gate, {"s": there}, limits=limits))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        client = McpHttpClient(http, f"{base}/mcp/s")
        await client.send(rpc("tools/list", {"_meta": META}, 1), **own, **{"Mcp-Method": "tools/list"})
        await until(lambda: gate.offers)
        headers = {**client.headers, **own, "Mcp-Method": "subscriptions/listen"}
        subscribing = rpc("subscriptions/listen", {"_meta": META}, 2)
        async with http.post(client.url, json=subscribing, headers=headers) as stream:
            for _ in range(10):
                await server.subscribed.put({"method": "notifications/message", "params": {"data": "x" * 1_000}})
                await stream.content.readuntil(b"}\n\n")
            assert gate.offers
            await server.subscribed.put({"method": "notifications/tools/list_changed"})
            await until(lambda: not gate.offers)
