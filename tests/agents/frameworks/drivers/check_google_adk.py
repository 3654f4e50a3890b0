# mypy: disable-error-code="import-not-found,import-untyped"
"""What `through` leaves of the Agent Development Kit's tools."""

import asyncio
from types import SimpleNamespace

from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext

from paste_proxy import Sidecar
from paste_proxy.agents.google_adk import through


async def plain(words: str, times: int = 1) -> str:
    """Say it."""
    return words * times


def with_context(words: str, context: ToolContext) -> str:
    """Say it."""
    return words


paste = Sidecar()
long_running = LongRunningFunctionTool(plain)
tools = through(paste, [plain, with_context, long_running, FunctionTool(plain)])
assert (tools[1], tools[2]) == (with_context, long_running)
called = SimpleNamespace(function_call_id="c", tool_confirmation=None)
for tool in (tools[0], tools[3]):
    assert asyncio.run(tool.run_async(args={"words": "so", "times": 2}, tool_context=called)) == "soso"
    assert "mandatory" in asyncio.run(tool.run_async(args={}, tool_context=called))["error"]
    assert tool._get_declaration() == FunctionTool(plain)._get_declaration()
assert (paste.stats.calls, paste.stats.unreadable, paste.stats.broken) == (2, 0, 0)
