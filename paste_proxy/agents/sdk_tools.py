"""Where in a Python call the tool's name and its arguments stand."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from paste_proxy.agents.sdk_arguments import named, spread, without_defaults
from paste_proxy.agents.sdk_jobs import Tool

Failed = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Found:
    """A tool and the arguments of one call; arguments None: they have no form as JSON."""

    tool: Tool
    arguments: object


@dataclass(frozen=True, slots=True)
class Written:
    """What is known of the LLM's tool call behind a Python call."""

    call_id: str | None = None
    arguments: Mapping[str, object] | None = None


UNKNOWN = Written()


class Reader(Protocol):
    """Reads Python calls of one function."""

    def __call__(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], written: Mapping[str, object] | None
    ) -> Found | None:
        """What is called; None if it is no call of a tool.

        Args:
            written: the arguments as the LLM wrote them, where known.
        """


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling the function gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


class FunctionReader:
    """A function that is one tool, its parameters the tool's arguments."""

    def __init__(self, function: Callable[..., Any], name: str, failed: Failed | None) -> None:
        self._signature = inspect.signature(function)

        def run(arguments: dict[str, Any]) -> Any:
            args, kwargs = spread(self._signature, arguments)
            return function(*args, **kwargs)

        self.tool = Tool(name, run, is_async(function), failed)

    def __call__(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], written: Mapping[str, object] | None
    ) -> Found:
        """What is called."""
        arguments = named(self._signature, args, kwargs)
        if arguments is not None and written is not None:
            arguments = without_defaults(self._signature, arguments, written)
        return Found(self.tool, arguments)


class DispatchReader:
    """A function that is all tools: its first parameter names one, its second holds the arguments."""

    def __init__(self, function: Callable[..., Any], failed: Failed | None) -> None:
        self._function, self._failed = function, failed
        self._signature = inspect.signature(function)
        self._is_async = is_async(function)
        self._tools: dict[str, Tool] = {}

    def tool(self, name: str) -> Tool:
        """The tool of that name."""

        def run(arguments: dict[str, Any]) -> Any:
            return self._function(name, arguments)

        return self._tools.setdefault(name, Tool(name, run, self._is_async, self._failed))

    def __call__(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], written: Mapping[str, object] | None
    ) -> Found | None:
        """What is called; arguments beyond the two make it a call that no job can repeat."""
        bound = named(self._signature, args, kwargs)
        if bound is None:
            return None
        name, *rest = bound.values()
        if type(name) is not str:
            return None
        return Found(self.tool(name), rest[0] if len(rest) == 1 else None)


class CallReader:
    """A function that is one tool and takes its arguments in a form of its own."""

    def __init__(self, tool: Tool, arguments: Callable[..., object]) -> None:
        self.tool, self._arguments = tool, arguments

    def __call__(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], written: Mapping[str, object] | None
    ) -> Found:
        """What is called."""
        return Found(self.tool, self._arguments(*args, **kwargs))
