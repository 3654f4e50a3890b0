"""Argument mappers: where the value of one argument comes from (PASTE 4.1).

A mapper is a source, a take and a light normalisation, or a constant. It gives all the values it can
mean, best first, each with the choices it made (which event, which row), so that the mappers of one
template can agree: the origin and the date of a search come from the same flight.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import is_
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


NOTHING: list[Bound] = []
"""What a mapper gives that gives nothing: always the same list, as `Mapper.values` has it."""


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
            return NOTHING
        if self._bears:
            stamp = stamp, window.bearings.stamp
        kept = window.lasting.get(self._name)
        if kept is None or kept[1] != stamp:
            before = kept[2] if kept is not None else NOTHING
            kept = window.lasting[self._name] = self, stamp, self._anew(window, before)
        values: list[Bound] = kept[2]
        return values

    @cached_property
    def _name(self) -> tuple[Hashable, ...]:
        """Equal mappers look things up once for all of them."""
        source = self.source
        return "mapper", source.origin, source.tool, source.each, self.take, self.form, self.frame, self.last

    @cached_property
    def _place(self) -> tuple[str, str]:
        return self.source.origin, self.source.tool

    @cached_property
    def _bears(self) -> bool:
        """Whether its values depend on the session's bearings."""
        return self.take in (DATE, FILE)

    def _anew(self, window: Window, before: list[Bound]) -> list[Bound]:
        """The values as they are now; as long as they are what they were, the same list, so that others can tell."""
        values: list[Bound] = []
        for material in self.source.materials(window):
            if self.take not in material.lacking:
                values += self._of(material)
                if len(values) >= MOST_VALUES:
                    del values[MOST_VALUES:]
                    break
        is_same = values == before if self._bears else len(values) == len(before) and all(map(is_, values, before))
        return before if is_same else values

    def _of(self, material: Material) -> Iterable[Bound]:
        """The values that one material holds, made once where they stay what they are."""
        if self._bears:
            return self._found(material)
        kept: list[Bound] | None = material.bound.get(self._name)
        if kept is None:
            kept = material.bound[self._name] = list(self._found(material))
        return kept

    def _found(self, material: Material) -> Iterator[Bound]:
        return islice(self._all(material), MOST_VALUES)

    def _all(self, material: Material) -> Iterator[Bound]:
        event, lists = self._named
        chosen = {event: material.number} if self.source.each else {}
        is_plain = not self.form and not self.frame
        for value, rows in material.take(self.take)[-1:] if self.last else material.each(self.take):
            given = value if is_plain else framed(self.frame, _formed(self.form, value))
            if given is not None:
                row = dict(zip(lists, rows, strict=False)) if rows and not self.last else {}
                yield Bound(given, {**chosen, **row} if row else chosen)

    @cached_property
    def _named(self) -> tuple[str, list[str]]:
        """The names of the choices: which event, and which item of each list."""
        event = f"{self.source.origin} {self.source.tool}"
        return event, [f"{event} {prefix}" for prefix in stars(self.take)]


def _formed(form: str, value: Json) -> Json:
    change = FORMS.get(form)
    return relative(form, value) if change is None else change(value)
