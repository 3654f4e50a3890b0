"""Messages of a session over a process's stdin and stdout, to the process's end."""

import asyncio
import gc
from typing import Any, cast

import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.tools.mcp_child import Child
from paste_proxy.tools.mcp_stdio_link import StdioLink
from paste_proxy.wire.jsonrpc import Request
from paste_proxy.wire.mcp_client import Outgoing


class Dying:
    """A server that ends while a message to it is being written."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def send(self, line: bytes) -> None:
        self.ended.set()
        for _ in range(3):  # the reader sees the end first
            await asyncio.sleep(0)
        raise UpstreamFault("no longer reads")

    async def lines(self) -> Any:
        await self.ended.wait()
        for line in list[bytes]():
            yield line

    async def close(self) -> int:
        return 0

    def release(self) -> None:
        pass


def refuse(_: Request) -> bytes:
    raise AssertionError


async def test_a_server_that_ends_while_it_is_written_to_is_one_fault_and_no_word_more() -> None:
    stray: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: stray.append(context))
    link = StdioLink(cast("Child", Dying()), refuse)
    with pytest.raises(UpstreamFault, match="no longer reads"):
        await link.request(Outgoing(b"{}", {}), 1)
    await link.close()
    gc.collect()
    assert stray == []
