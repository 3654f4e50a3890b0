"""Asks an MCP server for its tools once, to see that it starts and answers."""

import asyncio

from aiohttp import ClientError, ClientSession

from paste_proxy import __version__
from paste_proxy.config import McpServer
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.values import loads
from paste_proxy.proxy.mcp.starting import start
from paste_proxy.tools.mcp_http_link import HttpLink
from paste_proxy.tools.mcp_link import Link
from paste_proxy.tools.mcp_stdio_link import StdioLink
from paste_proxy.wire.jsonrpc import Request, refuse
from paste_proxy.wire.mcp import Era
from paste_proxy.wire.mcp_client import STATELESS_VERSION, Dialect, initialize
from paste_proxy.wire.mcp_tools import ListedTool, listed_tools

_PATIENCE_S = 30.0
_ANSWER_BYTES = 8 * 2**20
_METHOD_NOT_FOUND = -32601
_WE = ("paste-proxy doctor", __version__)


async def probe(name: str, server: McpServer) -> tuple[ListedTool, ...] | str:
    """The server's tools (the first page), or what went wrong."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return (
                await _over_http(server.url, server.proxy)
                if server.url is not None
                else await _over_stdio(name, server)
            )
    except TimeoutError:
        return f"does not answer within {_PATIENCE_S:.0f} s"
    except (UpstreamFault, ClientError, OSError) as fault:
        return str(fault)


async def _over_http(url: str, proxy: str | None) -> tuple[ListedTool, ...]:
    async with ClientSession(trust_env=False, proxy=proxy) as http:
        link = HttpLink(http, url, tuple, _refusing, answer_bytes=_ANSWER_BYTES)
        try:
            return await _tools(link)
        finally:
            await link.close()


async def _over_stdio(name: str, server: McpServer) -> tuple[ListedTool, ...]:
    child = await start(name, server)
    link = StdioLink(child, _refusing)
    try:
        return await _tools(link)
    except UpstreamFault as fault:
        raise UpstreamFault(f"{fault}; {child.obituary(await child.close())}") from fault
    finally:
        await link.close()


async def _tools(link: Link) -> tuple[ListedTool, ...]:
    dialect = Dialect(era=Era.STATELESS, version=STATELESS_VERSION, client=_WE)
    opened = await link.request(initialize(1, _WE), 1)
    if opened.result_raw is not None:
        agreed = loads(opened.result_raw)
        version = agreed.get("protocolVersion") if isinstance(agreed, dict) else None
        dialect = Dialect(era=Era.SESSION, version=str(version), client=_WE, session_id=link.session_id)
        await link.notify(dialect.initialized())
    listed = await link.request(dialect.list_tools(2), 2)
    if listed.result_raw is None:
        raise UpstreamFault(f"it refuses tools/list: {(listed.error_raw or b'').decode('utf-8', 'replace')[:200]}")
    return listed_tools(listed.result_raw)


def _refusing(request: Request) -> bytes:
    return refuse(request.id_raw, _METHOD_NOT_FOUND, "a doctor only asks")
