"""pydantic-ai behind the sidecar.

    agent = Agent(model, tools=through(sidecar, [search, visit]))
    toolset = FunctionToolset(through(sidecar, [search, visit]))

The function under a tool goes through the sidecar; validation of its arguments, hooks, time limits and
retries stay around it and happen when the agent calls.
"""

from collections.abc import Iterable
from copy import copy
from typing import Any

from paste_proxy.agents.optional import package
from paste_proxy.agents.sdk import Sidecar


def through(sidecar: Sidecar, tools: Iterable[Any]) -> list[Any]:
    """Tools of these functions and tools, with the sidecar before each function.

    Functions that take the run's context are called as before: what such a one gives depends on more than
    its arguments.

    Raises:
        ImportError: pydantic-ai is not installed.
    """
    tool_class = package("pydantic_ai", of="pydantic-ai", wanted_by=__name__).Tool
    made = [tool if isinstance(tool, tool_class) else tool_class(tool) for tool in tools]
    return [tool if tool.takes_ctx else _through(sidecar, tool) for tool in made]


def _through(sidecar: Sidecar, tool: Any) -> Any:
    twin, schema = copy(tool), copy(tool.function_schema)
    twin.function = schema.function = sidecar.tool(name=tool.name)(schema.function)
    schema.call = _told(sidecar, schema.call)
    twin.function_schema = schema
    return twin


def _told(sidecar: Sidecar, call: Any) -> Any:
    async def told(arguments: dict[str, Any], context: Any) -> Any:
        with sidecar.call_id(context.tool_call_id, _written(context)):
            return await call(arguments, context)

    return told


def _written(context: Any) -> dict[str, Any] | None:
    """The call's arguments in the LLM's latest answer."""
    parts = context.messages[-1].parts if context.messages else ()
    asked = [part for part in parts if getattr(part, "tool_call_id", None) == context.tool_call_id]
    try:
        written: dict[str, Any] = asked[0].args_as_dict()
    except (AttributeError, IndexError, ValueError):
        return None
    return written
