"""smolagents behind the sidecar.

    agent = CodeAgent(tools=through(sidecar, [search, visit]), model=model)

A tool's `forward` is what goes through the sidecar, so an agent that writes code and one that writes calls
are served alike; what smolagents does around it happens when the agent calls. No id of the LLM's reaches it.
"""

from collections.abc import Iterable
from copy import copy
from typing import Any

from paste_proxy.agents.optional import package
from paste_proxy.agents.sdk import Sidecar


def through(sidecar: Sidecar, tools: Iterable[Any]) -> list[Any]:
    """Copies of smolagents tools whose calls go through the sidecar; what is no `Tool` stays as it is.

    Raises:
        ImportError: smolagents is not installed.
    """
    smolagents = package("smolagents", of="smolagents", wanted_by=__name__)
    return [_through(sidecar, tool) if isinstance(tool, smolagents.Tool) else tool for tool in tools]


def _through(sidecar: Sidecar, tool: Any) -> Any:
    twin, forward, names = copy(tool), tool.forward, tuple(tool.inputs)

    # A decorated function's `forward` says that it takes a `self`, and takes none: its signature is of no use.
    def written(*args: Any, **kwargs: Any) -> dict[str, Any] | None:
        if len(args) > len(names) or kwargs.keys() & names[: len(args)]:
            return None
        return {**dict(zip(names, args, strict=False)), **kwargs}

    def run(arguments: dict[str, Any]) -> Any:
        return forward(**arguments)

    twin.forward = sidecar.adapt(forward, name=tool.name, arguments=written, run=run)
    return twin
