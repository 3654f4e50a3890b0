"""A predicted invocation before it is bound: a tool and a mapper for each argument."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import is_
from typing import Any

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.gradual import Gradual
from paste_proxy.mining.invoked import invoked
from paste_proxy.mining.mappers import Bound, Constant
from paste_proxy.mining.window import Window

MOST_BINDINGS = 8
"""Bindings of one template that are counted and predicted."""
_MOST_PARTIAL = 16

_Given = list[list[Bound]]
"""What each mapper gives."""


@dataclass(frozen=True)
class Template:
    """A tool and its arguments by name; the live session supplies the values."""

    tool: str
    arguments: tuple[tuple[str, AnyMapper], ...]
    """Sorted by name."""

    def bind(self, window: Window) -> Iterator[Invocation]:
        """The distinct invocations it can mean now, best first."""
        return self._bound(self._given(window))

    def fresh(self, window: Window) -> Gradual[Invocation]:
        """Of these what the session has not asked for; made anew where its mappers give something else, or it asked."""
        asked, given = window.asked(), self._given(window)
        kept: tuple[object, Any, Any] | None = window.lasting.get(id(self))
        if kept is not None and kept[0] is self and all(map(is_, kept[1][1], given)):
            bound: Gradual[Invocation] = kept[2][0]
            fresh: Gradual[Invocation] = kept[2][1]
            if kept[1][0] is asked:
                return fresh
        else:
            bound = Gradual(self._bound(given))
        fresh = Gradual(one for one in bound if one.key not in asked)
        window.lasting[id(self)] = self, (asked, given), (bound, fresh)
        return fresh

    @cached_property
    def constant(self) -> Invocation | None:
        """The one invocation that it means, whatever the session; None if there is no such."""
        constants = {name: mapper.value for name, mapper in self.arguments if isinstance(mapper, Constant)}
        return Invocation(self.tool, constants) if len(constants) == len(self.arguments) else None

    def _given(self, window: Window) -> _Given:
        return [mapper.values(window) for _, mapper in self.arguments]

    def _bound(self, given: _Given) -> Iterator[Invocation]:
        return iter((self.constant,)) if self.constant is not None else self._distinct(given)

    def _distinct(self, given: _Given) -> Iterator[Invocation]:
        keys: set[str] = set()
        for arguments in self._joined(given):
            invocation = invoked(self.tool, arguments)
            if invocation.key not in keys:
                keys.add(invocation.key)
                yield invocation

    def _joined(self, given: _Given) -> Iterator[dict[str, Json]]:
        partial: list[tuple[dict[str, Json], dict[str, int]]] = [({}, {})] if all(given) else []
        for (name, _), bound in zip(self.arguments, given, strict=True):
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
    return template.fresh(window).first(most)
