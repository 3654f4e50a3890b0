"""A predicted invocation before it is bound: a tool and a mapper for each argument."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.mappers import AnyMapper
from paste_proxy.mining.window import Window

MOST_BINDINGS = 8
_MOST_PARTIAL = 16


@dataclass(frozen=True)
class Template:
    """A tool and its arguments by name; the live session supplies the values."""

    tool: str
    arguments: tuple[tuple[str, AnyMapper], ...]
    """Sorted by name."""

    def bind(self, window: Window) -> list[Invocation]:
        """The distinct invocations it can mean now, best first, at most `MOST_BINDINGS`."""
        found: dict[str, Invocation] = {}
        for arguments in self._joined(window):
            invocation = Invocation(self.tool, arguments)
            found.setdefault(invocation.key, invocation)
            if len(found) >= MOST_BINDINGS:
                break
        return list(found.values())

    def _joined(self, window: Window) -> Iterator[dict[str, Json]]:
        partial: list[tuple[dict[str, Json], dict[str, int]]] = [({}, {})]
        for name, mapper in self.arguments:
            bound = mapper.values(window)
            joined = (
                ({**arguments, name: one.value}, {**choices, **one.choices})
                for arguments, choices in partial
                for one in bound
                if one.agrees(choices)
            )
            partial = list(islice(joined, _MOST_PARTIAL))
            if not partial:
                break
        return (arguments for arguments, _ in partial)


@dataclass(frozen=True)
class Repeat:
    """An invocation of the tool that the session made before, with all its arguments."""

    tool: str

    def bind(self, window: Window) -> list[Invocation]:
        """The earlier invocations, latest first, at most `MOST_BINDINGS`."""
        found: dict[str, Invocation] = {}
        for seen in reversed(window.observations):
            if seen.invocation is not None and seen.tool == self.tool:
                found.setdefault(seen.invocation.key, seen.invocation)
                if len(found) >= MOST_BINDINGS:
                    break
        return list(found.values())


AnyTemplate = Template | Repeat
