"""Argument mappers: where the value of one argument comes from (PASTE 4.1).

A mapper is a source, a take and a light normalisation, or a constant. It gives all the values it can
mean, best first, each with the choices it made (which event, which row), so that the mappers of one
template can agree: the origin and the date of a search come from the same flight.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from paste_proxy.events.values import Json
from paste_proxy.mining.forms import FORMS, framed
from paste_proxy.mining.material import FILE, Material
from paste_proxy.mining.mentions import DATE
from paste_proxy.mining.pointers import stars
from paste_proxy.mining.relative import relative
from paste_proxy.mining.sources import Source
from paste_proxy.mining.window import Window

MOST_VALUES = 10
"""Values that one mapper gives at most."""


class Bound(NamedTuple):
    """A value and the choices that led to it."""

    value: Json
    choices: Mapping[str, int]

    def agrees(self, choices: Mapping[str, int]) -> bool:
        """Whether these choices contradict none of ours."""
        return not choices or all(choices.get(name, choice) == choice for name, choice in self.choices.items())


@dataclass(frozen=True)
class Constant:
    """A value that does not come from the session."""

    value: Json

    def values(self, window: Window) -> list[Bound]:
        """The constant alone."""
        return self._bound

    @cached_property
    def _bound(self) -> list[Bound]:
        return [Bound(self.value, {})]


@dataclass(frozen=True)
class Mapper:
    """Values that a source holds."""

    source: Source
    take: str
    """See `Material`."""
    form: str = ""
    frame: str = ""
    last: bool = False
    """Only the last value instead of all."""

    def values(self, window: Window) -> list[Bound]:
        """The values it can mean now, at most `MOST_VALUES`."""
        stamp: object = window.stamps.get(self._place)
        if stamp is None:
            return []
        if self._bears:
            stamp = stamp, window.bearings.stamp
        kept = window.lasting.get(id(self))
        if kept is None or kept[0] is not self or kept[1] != stamp:
            kept = window.lasting[id(self)] = self, stamp, self._values(self.source.materials(window))
        values: list[Bound] = kept[2]
        return values

    @cached_property
    def _place(self) -> tuple[str, str]:
        return self.source.origin, self.source.tool

    @cached_property
    def _bears(self) -> bool:
        """Whether its values depend on the session's bearings."""
        return self.take in (DATE, FILE)

    def _values(self, materials: Iterable[Material]) -> list[Bound]:
        take, (event, lists) = self.take, self._named
        is_plain = not self.form and not self.frame
        values: list[Bound] = []
        for nth, material in enumerate(materials):
            if take in material.lacking:
                continue
            chosen = {event: nth} if self.source.each else {}
            for value, rows in material.take(take)[-1:] if self.last else material.each(take):
                given = value if is_plain else framed(self.frame, _formed(self.form, value))
                if given is not None:
                    row = dict(zip(lists, rows, strict=False)) if rows and not self.last else {}
                    values.append(Bound(given, {**chosen, **row} if row else chosen))
                    if len(values) == MOST_VALUES:
                        return values
        return values

    @cached_property
    def _named(self) -> tuple[str, list[str]]:
        """The names of the choices: which event, and which item of each list."""
        event = f"{self.source.origin} {self.source.tool}"
        return event, [f"{event} {prefix}" for prefix in stars(self.take)]


def _formed(form: str, value: Json) -> Json:
    change = FORMS.get(form)
    return relative(form, value) if change is None else change(value)
