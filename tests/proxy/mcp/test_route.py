"""All the servers behind `/mcp/` together."""

import asyncio

from aiohttp import web

from paste_proxy.proxy.mcp.route import McpFronts


class Waiting:
    """A front that ends only when the others do."""

    def __init__(self, together: asyncio.Barrier) -> None:
        self._together = together

    async def serve(self, request: web.Request, rest: str) -> web.StreamResponse:
        raise AssertionError

    async def close(self) -> None:
        await self._together.wait()


async def test_stubborn_servers_are_ended_all_at_once() -> None:
    together = asyncio.Barrier(3)
    async with asyncio.timeout(10):
        await McpFronts({name: Waiting(together) for name in "abc"}).close()
