# mypy: disable-error-code="import-not-found,untyped-decorator"
"""What `through` leaves of tools of the OpenAI Agents SDK."""

import asyncio
from typing import Any

from agents import FunctionTool, RunContextWrapper, function_tool
from agents.tool_context import ToolContext

from paste_proxy import Sidecar
from paste_proxy.agents.openai_agents import through


@function_tool(failure_error_function=lambda context, fault: f"told: {fault}")
def fails(words: str) -> str:
    raise ValueError(words)


@function_tool
def with_context(context: RunContextWrapper[Any], words: str) -> str:
    return words


@function_tool(needs_approval=lambda *_: asyncio.sleep(0, True))
async def approved(words: str) -> str:
    return words


async def by_hand(context: Any, arguments: str) -> str:
    return arguments


hand_made = FunctionTool(name="hand_made", description="", params_json_schema={}, on_invoke_tool=by_hand)
given = [fails, with_context, approved, hand_made]
tools = through(Sidecar(), given)
context = ToolContext(context=None, tool_name="fails", tool_call_id="c", tool_arguments='{"words": "no"}')
assert asyncio.run(tools[0].on_invoke_tool(context, '{"words": "no"}')) == "told: no"
assert "Invalid JSON" in asyncio.run(tools[0].on_invoke_tool(context, "nothing"))
assert (tools[1], tools[3]) == (with_context, hand_made)
assert tools[2] is not approved
assert tools[2].needs_approval is approved.needs_approval
assert callable(tools[2].__wrapped__), "approvals find the function's arguments"
assert [tool.params_json_schema for tool in tools] == [tool.params_json_schema for tool in given]
