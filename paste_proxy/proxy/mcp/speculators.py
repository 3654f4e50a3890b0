"""How the speculative session of a client session reaches its server."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from aiohttp import ClientSession

from paste_proxy.config import McpServer
from paste_proxy.proxy.mcp.offering import MakeSpeculator, Speculator
from paste_proxy.proxy.mcp.starting import start, workbench_of
from paste_proxy.tools.approach import Approach
from paste_proxy.tools.backend import Preparable
from paste_proxy.tools.mcp_client import McpClient
from paste_proxy.tools.mcp_hello import Hello
from paste_proxy.tools.mcp_http_link import HttpLink
from paste_proxy.tools.mcp_link import Answerer, Link
from paste_proxy.tools.mcp_stdio_link import StdioLink
from paste_proxy.wire.mcp_tools import ListedTool

if TYPE_CHECKING:
    from paste_proxy.staging.stages import Stages


def over_http(
    name: str, server: McpServer, http: ClientSession, url: str, answer_bytes: int, *, opens: bool = False
) -> MakeSpeculator:
    """Sessions of their own at the same URL, with the live client's credentials.

    Args:
        opens: whether something may be run ahead in them.
    """
    approach = Approach(http, url)

    def make(hello: Callable[[], Hello], tools: Callable[[], Mapping[str, ListedTool]]) -> McpClient:
        async def connect(answerer: Answerer) -> Link:
            return HttpLink(http, url, lambda: hello().headers, answerer, answer_bytes=answer_bytes)

        needs = (approach,) if approach.pays else ()
        return McpClient(name, connect, hello, tools, marked=server.mark_speculative, opens=opens, needs=needs)

    return make


def over_stdio(
    name: str,
    server: McpServer,
    stages: "Stages | None" = None,
    *,
    opens: bool = False,
    shared: Iterable[Preparable] = (),
) -> MakeSpeculator:
    """Processes of their own, started like the live one; our own tools need none, and share its `stages`.

    Args:
        opens: whether something may be run ahead in them.
        shared: what calls of clients without sessions need.
    """

    def make(hello: Callable[[], Hello], tools: Callable[[], Mapping[str, ListedTool]]) -> Speculator:
        async def connect(answerer: Answerer) -> Link:
            return StdioLink(await start(name, server), answerer)

        return workbench_of(server, stages) or McpClient(
            name, connect, hello, tools, marked=server.mark_speculative, opens=opens, shared=shared
        )

    return make
