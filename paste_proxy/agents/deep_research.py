"""Qwen (Tongyi) DeepResearch behind the sidecar.

    import react_agent
    through(Sidecar(url, session=each_thread), react_agent.TOOL_MAP)

Its agent stays as it is: its tools are found in `TOOL_MAP` at each call, and its LLM at one of the ports
6001 to 6008 of this machine, which are written into it and which the sidecar takes over (`planning_ports`).
"""

import threading
from collections.abc import MutableMapping, Sequence
from json import dumps
from typing import Any

from paste_proxy.agents.sdk import Sidecar

PORTS = range(6001, 6009)
"""Where the agent looks for its LLM."""

_INTERPRETER = "PythonInterpreter"
_FAILED = (
    "Invalid request format",
    "Timeout, return None",
    "No results found for",
    "Failed to read page",
    "Error fetching ",
    "could not be accessed",
    "[Python Interpreter Error]",
)
"""What its tools say in place of an exception."""


def through(sidecar: Sidecar, tools: MutableMapping[str, Any]) -> None:
    """Put the sidecar before each tool of a `TOOL_MAP`."""
    for name, tool in tools.items():
        if not isinstance(tool, BehindSidecar):
            tools[name] = BehindSidecar(sidecar, name, tool)


def each_thread() -> str:
    """Names the agent session by thread: the agent works on one question a thread at a time."""
    return f"thread-{threading.get_ident()}"


def planning_ports(upstreams: Sequence[str], ports: Sequence[int] = PORTS) -> str:
    """The part of a `paste.toml` by which the sidecar stands on the agent's ports.

    Args:
        upstreams: where the LLM's servers are now, such as `http://127.0.0.1:7001`; taken in turn if fewer
            than the ports.
    """
    if not upstreams:
        raise ValueError("upstreams: none given, expected the address of at least one server of the LLM")
    tables = []
    for number, upstream in enumerate(upstreams[: len(ports)]):
        own = list(ports[number :: len(upstreams)])
        lines = ("[[llm]]", 'path = "/"', f"upstream = {dumps(upstream)}", f"ports = {own}", 'wire = "tagged_text"')
        tables.append("\n".join(lines) + "\n")
    return "\n".join(tables)


class BehindSidecar:
    """What stands in a `TOOL_MAP` for a tool: all that the tool is, but for the way of a call."""

    def __init__(self, sidecar: Sidecar, name: str, tool: Any) -> None:
        self._tool = tool

        def written(*args: Any, **kwargs: Any) -> dict[str, Any] | None:
            return None if kwargs or len(args) != 1 else _written(name, args[0])

        def run(arguments: dict[str, Any]) -> Any:
            return tool.call(_as_called(name, arguments))

        self.call = sidecar.adapt(tool.call, name=name, arguments=written, run=run, failed=_failed)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._tool, attribute)


def _written(name: str, params: object) -> dict[str, Any] | None:
    """What the LLM wrote: without the reference to itself that the agent puts in, code as an argument."""
    if isinstance(params, dict):
        written = {key: value for key, value in params.items() if value is not params}
        return None if name == _INTERPRETER else written
    return {"code": params} if name == _INTERPRETER and isinstance(params, str) else None


def _as_called(name: str, arguments: dict[str, Any]) -> Any:
    """The one argument that the agent would call the tool with."""
    if name == _INTERPRETER:
        return arguments["code"]
    called = dict(arguments)
    called["params"] = called
    return called


def _failed(value: object) -> bool:
    return isinstance(value, str) and any(words in value for words in _FAILED)
