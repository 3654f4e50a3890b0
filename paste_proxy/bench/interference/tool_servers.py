"""The tools of an interference measurement that run elsewhere, in a process of their own: an HTTP tool, an MCP server.

They only wait, so that any number of calls at once are answered as fast as one. `python -m
paste_proxy.bench.interference.tool_servers` prints their two URLs, and ends with its standard input.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import blake2b

import orjson
import uvloop

from paste_proxy.bench.interference.durations import recorded
from paste_proxy.errors import OurFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.testing import ScriptedMcp, ScriptedTools

HTTP_TOOL, MCP_SERVER, MCP_TOOL = "record", "pages", "page"
ITEMS = 10
"""Further things that each answer names."""
_START_S = 20.0
_FILLER = "And so on. "


async def answered(invocation: Invocation) -> ToolResult:
    """The answer to a call, after the time its `ms` asks for.

    A call without `ms`, which no agent makes, takes one of the recorded times, by its arguments.
    """
    began = time.monotonic()
    digest = blake2b(invocation.key.encode(), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    taken = recorded()[number % len(recorded())]
    ms, size = invocation.arguments.get("ms", taken.ms), invocation.arguments.get("size", taken.size)
    assert isinstance(ms, int | float)
    assert isinstance(size, int)
    await asyncio.sleep(ms / 1e3)
    items = [{"id": f"{digest.hex()}-{item}"} for item in range(ITEMS)]
    told = {"items": items, "text": _FILLER * (size // len(_FILLER)), "own_ms": (time.monotonic() - began) * 1e3}
    return ToolResult(body=orjson.dumps(told), content_type="application/json")


@asynccontextmanager
async def tool_servers() -> AsyncIterator[tuple[str, str]]:
    """The process, running: the URL of the HTTP tool and that of the MCP server.

    Raises:
        OurFault: it did not start.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "paste_proxy.bench.interference.tool_servers"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        urls = (await asyncio.wait_for(process.stdout.readline(), _START_S)).decode().split()
        if len(urls) != 2:
            raise OurFault("the tool servers did not start")
        yield urls[0], urls[1]
    finally:
        process.stdin.close()
        await process.wait()


async def _serve() -> None:
    recorded()
    async with ScriptedTools(answered) as tools, ScriptedMcp([MCP_TOOL], answered) as mcp:
        sys.stdout.write(f"{tools.url}/{HTTP_TOOL} {mcp.url}/mcp\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.buffer.read)


if __name__ == "__main__":
    uvloop.run(_serve())
