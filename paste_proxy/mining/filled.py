"""A text with several holes, each filled by a mapper of its own: `cd {folder} && pytest {file} -q`.

What fills them is joined best first, by the sum of the ranks. Values of the holes that come from events which several
of them read come from the same ones, as the arguments of a template do.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from paste_proxy.mining.mappers import MOST_VALUES, Bound, Mapper
from paste_proxy.mining.steps import Step
from paste_proxy.mining.window import Window

MOST_HOLES = 8
"""Names of holes in one text."""
MOST_PLACES = 16
"""Places where one is."""
LONGEST_TEXT = 1_000
_LONGEST_VALUE = 300
_MOST_PARTIAL = 32
_HOLE = re.compile(r"\{(\w+)\}")
_DOUBLED = re.compile(r"\{\{(\w+)\}\}")

Filler = Mapper | Step
Partial = tuple[int, tuple[str, ...], dict[str, int]]
"""The sum of the ranks of some values, these, and the choices that led to them."""


@dataclass(frozen=True)
class Filled:
    """A text in which `{NAME}` stands for what the mapper of that name gives, wherever a hole has that name."""

    text: str
    holes: tuple[tuple[str, Filler], ...]
    """Sorted by name."""

    @property
    def frame(self) -> str:
        """The text around the values."""
        return self.text

    def values(self, window: Window) -> list[Bound]:
        """The likeliest texts it can mean now, distinct, at most `MOST_VALUES`."""
        given = tuple(hole.values(window) for _, hole in self.holes)
        kept = window.lasting.get(id(self))
        if kept is not None and kept[0] is self:
            before = kept[1]
            if isinstance(before, tuple) and all(map(_is, before, given)):
                values: list[Bound] = kept[2]
                return values
        values = self._distinct(_joined(given))
        window.lasting[id(self)] = self, given, values
        return values

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """What stands between the holes, and the names of these, in turn."""
        return tuple(parts_of(self.text, {name for name, _ in self.holes}))

    def _distinct(self, joined: list[Partial]) -> list[Bound]:
        found: dict[str, Bound] = {}
        names = [name for name, _ in self.holes]
        for _, values, choices in joined:
            by_name = dict(zip(names, values, strict=True))
            text = "".join(by_name[part] if at % 2 else part for at, part in enumerate(self.parts))
            found.setdefault(text, Bound(text, choices))
            if len(found) >= MOST_VALUES:
                break
        return list(found.values())


def parts_of(text: str, names: set[str]) -> Iterator[str]:
    """What stands between the holes of a text, and the names of these, in turn; other braces are what they are."""
    begin = 0
    for found in _HOLE.finditer(text):
        if found[1] in names:
            yield text[begin : found.start()]
            yield found[1]
            begin = found.end()
    yield text[begin:]


def doubled(text: str, names: Collection[str]) -> str:
    """A text as people write it: a word in braces that is the name of no hole has them twice, `{{HOME}}`."""
    return _HOLE.sub(lambda found: found[0] if found[1] in names else f"{{{found[0]}}}", text)


def undoubled(text: str, names: Collection[str]) -> str:
    """What `doubled` was made from."""
    return _DOUBLED.sub(lambda found: found[0] if found[1] in names else found[0][1:-1], text)


def sourceless(text: str, names: Collection[str]) -> str | None:
    """The first word in single braces that is the name of no hole, of a text as people write it."""
    left = _DOUBLED.sub(lambda found: found[0] if found[1] in names else " ", text)
    return next((found[1] for found in _HOLE.finditer(left) if found[1] not in names), None)


def _is(one: object, other: object) -> bool:
    return one is other


def _joined(given: tuple[list[Bound], ...]) -> list[Partial]:
    partial: list[Partial] = [(0, (), {})]
    for bound in given:
        joined = [
            (ranks + rank, (*values, one.value), {**choices, **one.choices})
            for ranks, values, choices in partial
            for rank, one in enumerate(bound)
            if isinstance(one.value, str) and len(one.value) <= _LONGEST_VALUE and one.agrees(choices)
        ]
        joined.sort(key=lambda one: one[0])
        partial = joined[:_MOST_PARTIAL]
    return partial
