"""Google's Agent Development Kit behind the sidecar.

    agent = LlmAgent(name="reader", model=model, tools=through(sidecar, [search, visit]))

The function under a tool goes through the sidecar; validation, confirmations, callbacks and plug-ins stay
around it and happen when the agent calls.
"""

import inspect
from collections.abc import Iterable
from copy import copy
from typing import Any

from paste_proxy.agents.optional import package
from paste_proxy.agents.sdk import Sidecar

_PACKAGE = "google-adk"


def through(sidecar: Sidecar, tools: Iterable[Any]) -> list[Any]:
    """Tools of an agent, its functions and function tools with the sidecar before each function.

    All others stay as they are: toolsets, long-running tools, streams, and functions that take the tool
    context, since what such a one gives depends on more than its arguments.

    Raises:
        ImportError: google-adk is not installed.
    """
    adk = package("google.adk.tools", of=_PACKAGE, wanted_by=__name__)
    return [_through(sidecar, adk.FunctionTool, tool) for tool in tools]


def _through(sidecar: Sidecar, function_tool: Any, tool: Any) -> Any:
    made = function_tool(tool) if inspect.isroutine(tool) else tool
    if type(made) is not function_tool or not _is_plain(made.func):
        return tool
    twin = copy(made)
    twin.func = sidecar.tool(name=made.name)(made.func)
    twin.run_async = _told(sidecar, twin.run_async)
    return twin


def _is_plain(function: Any) -> bool:
    """Whether it gets the LLM's arguments only, and is done when it returns."""
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        return False
    context = package("google.adk.tools", of=_PACKAGE, wanted_by=__name__).ToolContext
    annotations = inspect.get_annotations(inspect.unwrap(function), eval_str=False)
    names = ("tool_context", "input_stream")
    return not any(
        name in names or annotations.get(name) is context or "Context" in str(annotations.get(name, ""))
        for name in inspect.signature(function).parameters
    )


def _told(sidecar: Sidecar, run_async: Any) -> Any:
    async def told(*, args: dict[str, Any], tool_context: Any) -> Any:
        with sidecar.call_id(tool_context.function_call_id, args):
            return await run_async(args=args, tool_context=tool_context)

    return told
