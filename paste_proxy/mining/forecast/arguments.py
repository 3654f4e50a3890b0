"""From a tool to whole invocations: the likeliest options of every argument, joined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import log
from operator import is_
from typing import Any

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.slot import Likely, Option, Slot
from paste_proxy.mining.invoked import invoked
from paste_proxy.mining.window import Window

_LEAST_SHARE = 0.08
_LEAST_COVERED = 0.03
_SHAPES = 3
_OPTIONS = 6
_PARTIAL = 10
_LEAST_PROBABILITY = 0.01
_DISAGREE = -2.5
"""Log odds of values that come from different rows of one answer."""
_NONE: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Shape:
    """The names of the arguments that a tool is called with, and how often it is just these."""

    names: tuple[str, ...]
    share: float
    covered: float = 1.0
    """How often all values asked for are among the options, were they independent."""


@dataclass(frozen=True)
class Arguments:
    """The shapes and slots of every tool."""

    shapes: Mapping[str, tuple[Shape, ...]]
    """By tool, the most frequent first."""
    slots: Mapping[tuple[str, str], Slot]
    """By tool and argument."""

    def likely(
        self, tool: str, window: Window, most: int, known: Mapping[str, Json] | None = None
    ) -> list[tuple[float, Invocation]]:
        """Invocations and the logs of their probabilities, given that the tool is called; the likeliest first.

        Args:
            known: arguments whose values are known already.
        """
        given = known or {}
        shapes = self._tried(tool, given)
        names = dict.fromkeys(name for shape in shapes for name in shape.names if name not in given)
        values = [self.slots[tool, name].every(window) for name in names]
        place = id(self), tool, most
        kept: tuple[object, Any, Any] | None = window.lasting.get(place)
        if given or kept is None or not all(map(is_, kept[1], values)):
            options = {name: [(1.0, Option(value, 0.0))] for name, value in given.items()}
            options |= {name: of_it[:_OPTIONS] for name, of_it in zip(names, values, strict=True)}
            kept = self, values, _whole(tool, shapes, options, most)
            if not given:
                window.lasting[place] = kept
        found: list[tuple[float, Invocation]] = kept[2]
        return found

    def _tried(self, tool: str, given: Mapping[str, Json]) -> list[Shape]:
        frequent = takewhile(lambda shape: shape.share >= _LEAST_SHARE, self.shapes.get(tool, ())[:_SHAPES])
        if given:
            return [shape for shape in frequent if given.keys() <= set(shape.names)]
        return [shape for shape in frequent if shape.covered >= _LEAST_COVERED]


_Partial = tuple[float, dict[str, Json], Mapping[str, int]]
"""Log odds, arguments, and the choices that led to them."""


def _whole(
    tool: str, shapes: Sequence[Shape], options: Mapping[str, list[Likely]], most: int
) -> list[tuple[float, Invocation]]:
    found: list[tuple[float, Invocation]] = []
    for shape in shapes:
        partial: list[_Partial] = [(log(shape.share), {}, {})]
        for name in shape.names:
            partial = _joined(partial, name, options[name])
        found += [(odds, invoked(tool, arguments)) for odds, arguments, _ in partial[:most]]
    found.sort(key=lambda one: -one[0])
    return found[:most]


def _joined(partial: list[_Partial], name: str, options: list[Likely]) -> list[_Partial]:
    """The likeliest ways to add another argument; only these are made whole."""
    logs = [(log(probability), option) for probability, option in options if probability >= _LEAST_PROBABILITY]
    joined: list[tuple[float, _Partial, Option[float], Mapping[str, int]]] = []
    for one in partial:
        odds, _, choices = one
        for log_odds, option in logs:
            more = _agreeing(choices, option) if option.choices else _NONE
            joined.append((odds + log_odds + (_DISAGREE if more is None else 0.0), one, option, more or _NONE))
    joined.sort(key=lambda one: -one[0])
    return [
        (odds, {**arguments, name: option.value}, {**choices, **more})
        for odds, (_, arguments, choices), option, more in joined[:_PARTIAL]
    ]


def _agreeing(choices: Mapping[str, int], option: Option[float]) -> Mapping[str, int] | None:
    """The first choices that led to an option and contradict none of these; None if there are no such."""
    for more in option.choices:
        for name, choice in more.items():
            if choices.get(name, choice) != choice:
                break
        else:
            return more
    return None
