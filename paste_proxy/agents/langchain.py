"""LangChain and LangGraph behind the sidecar.

    agent = create_agent(model, through(sidecar, [search, visit]))
    node = ToolNode(through(sidecar, [search, visit]))

The function under a tool goes through the sidecar; callbacks, traces and the message that answers the
LLM's call are made when the agent calls, as before.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from paste_proxy.agents.optional import package
from paste_proxy.agents.sdk import Sidecar


def through(sidecar: Sidecar, tools: Iterable[Any]) -> list[Any]:
    """Copies of LangChain tools whose calls go through the sidecar.

    Tools that get the graph's state, its store or the call's id besides the LLM's arguments stay as they
    are, and so does what is no LangChain tool: plain functions, a provider's own tools.

    Raises:
        ImportError: langchain-core is not installed.
    """
    tool_base = package("langchain_core.tools", of="langchain-core", wanted_by=__name__).BaseTool
    return [_through(sidecar, tool) if isinstance(tool, tool_base) and not _injected(tool) else tool for tool in tools]


def _through(sidecar: Sidecar, tool: Any) -> Any:
    twin = tool.model_copy()
    names = ("func", "coroutine") if hasattr(tool, "func") else ("_run", "_arun")
    for name in names:
        function = getattr(tool, name, None)
        if function is not None and _own(tool, name):
            _put(twin, name, sidecar.tool(name=tool.name)(function))
    _put(twin, "invoke", _told(sidecar, twin.invoke))
    _put(twin, "ainvoke", _told_async(sidecar, twin.ainvoke))
    return twin


def _put(tool: Any, name: str, value: Any) -> None:
    """Set an attribute of this one tool: pydantic's models take fields only."""
    object.__setattr__(tool, name, value)


def _own(tool: Any, name: str) -> bool:
    """Whether it is the tool's own work, not LangChain's way of calling it in a thread."""
    return name in ("func", "coroutine") or not getattr(type(tool), name).__module__.startswith("langchain_core.tools.")


def _injected(tool: Any) -> bool:
    """Whether more than the LLM's arguments reaches the function."""
    if isinstance(tool.args_schema, dict):
        return False
    return bool(tool.get_input_schema().model_fields.keys() - tool.tool_call_schema.model_fields.keys())


def _told(sidecar: Sidecar, invoke: Any) -> Any:
    def told(call: Any, *args: Any, **kwargs: Any) -> Any:
        with _written(sidecar, call):
            return invoke(call, *args, **kwargs)

    return told


def _told_async(sidecar: Sidecar, invoke: Any) -> Any:
    async def told(call: Any, *args: Any, **kwargs: Any) -> Any:
        with _written(sidecar, call):
            return await invoke(call, *args, **kwargs)

    return told


@contextmanager
def _written(sidecar: Sidecar, call: Any) -> Iterator[None]:
    if isinstance(call, dict) and call.get("type") == "tool_call":
        with sidecar.call_id(call.get("id"), call.get("args")):
            yield
    else:
        yield
