"""A predicted invocation before it is bound: a tool and a mapper for each argument."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.mappers import Constant
from paste_proxy.mining.window import Window

MOST_BINDINGS = 8
"""Bindings of one template that are counted and predicted."""
_MOST_PARTIAL = 16


@dataclass(frozen=True)
class Template:
    """A tool and its arguments by name; the live session supplies the values."""

    tool: str
    arguments: tuple[tuple[str, AnyMapper], ...]
    """Sorted by name."""

    def bind(self, window: Window) -> Iterator[Invocation]:
        """The distinct invocations it can mean now, best first."""
        if self.constant is not None:
            yield self.constant
            return
        given: set[str] = set()
        for arguments in self._joined(window):
            invocation = Invocation(self.tool, arguments)
            if invocation.key not in given:
                given.add(invocation.key)
                yield invocation

    @cached_property
    def constant(self) -> Invocation | None:
        """The one invocation that it means, whatever the session; None if there is no such."""
        constants = {name: mapper.value for name, mapper in self.arguments if isinstance(mapper, Constant)}
        return Invocation(self.tool, constants) if len(constants) == len(self.arguments) else None

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

    def bind(self, window: Window) -> Iterator[Invocation]:
        """The distinct earlier invocations, latest first."""
        given: set[str] = set()
        for seen in reversed(window.observations):
            invocation = seen.invocation
            if invocation is not None and seen.tool == self.tool and invocation.key not in given:
                given.add(invocation.key)
                yield invocation


AnyTemplate = Template | Repeat


def bindings(template: AnyTemplate, window: Window, most: int = MOST_BINDINGS) -> list[Invocation]:
    """What a template gives now, up to `most`. A repeat is the business of `Repeat` alone, which has its own
    statistics."""
    if isinstance(template, Repeat):
        return list(islice(template.bind(window), most))
    asked = window.asked()
    return list(islice((invocation for invocation in template.bind(window) if invocation.key not in asked), most))
