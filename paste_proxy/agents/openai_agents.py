"""The OpenAI Agents SDK behind the sidecar.

    agent = Agent(name="reader", tools=through(sidecar, [search, visit]))

The function under a tool goes through the sidecar; guardrails, approvals, time limits, the words for a
failure and tracing stay around it and happen when the agent calls.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from paste_proxy.agents.optional import package
from paste_proxy.agents.sdk import Sidecar

_PACKAGE = "openai-agents"


def through(sidecar: Sidecar, tools: Iterable[Any]) -> list[Any]:
    """Tools of an agent, those made by `function_tool` with the sidecar before their functions.

    All others stay as they are, among them functions that take the run's context: what such a one gives
    depends on more than its arguments.

    Raises:
        ImportError: openai-agents is not installed.
    """
    agents = package("agents", of=_PACKAGE, wanted_by=__name__)
    return [_through(sidecar, tool) if isinstance(tool, agents.FunctionTool) else tool for tool in tools]


def _through(sidecar: Sidecar, tool: Any) -> Any:
    function = getattr(tool, "__wrapped__", None)
    if function is None or tool.output_json_schema is not None or _takes_context(function, tool.strict_json_schema):
        return tool
    agents = package("agents", of=_PACKAGE, wanted_by=__name__)
    wrapped = sidecar.tool(name=tool.name)(function)
    rebuilt = agents.function_tool(wrapped, name_override=tool.name, strict_mode=tool.strict_json_schema)
    twin = replace(tool, on_invoke_tool=rebuilt.on_invoke_tool)
    # A rule of approval that is a function reads the arguments out of the tool's own invoker.
    return twin if callable(tool.needs_approval) else replace(twin, on_invoke_tool=_told(sidecar, twin))


def _takes_context(function: Any, strict: bool) -> bool:
    schema = package("agents.function_schema", of=_PACKAGE, wanted_by=__name__)
    return bool(schema.function_schema(function, strict_json_schema=strict).takes_context)


def _told(sidecar: Sidecar, tool: Any) -> Any:
    async def invoke(context: Any, arguments: str) -> Any:
        with sidecar.call_id(context.tool_call_id, _written(arguments)):
            return await tool.on_invoke_tool(context, arguments)

    return invoke


def _written(arguments: str) -> dict[str, Any] | None:
    try:
        written = json.loads(arguments or "{}")
    except ValueError:
        return None
    return written if isinstance(written, dict) else None
