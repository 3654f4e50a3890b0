"""What one event holds, taken apart once and kept: values by place, values by kind, and the way back."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from paste_proxy.events.values import Json
from paste_proxy.mining.bearings import Bearings
from paste_proxy.mining.dates import dated
from paste_proxy.mining.extent import is_value
from paste_proxy.mining.gradual import Gradual
from paste_proxy.mining.mentions import DATE, KINDS, mentions, words_by_shape
from paste_proxy.mining.neighbours import Neighbours, is_neighbour, may_stand
from paste_proxy.mining.pointers import Leaves

_MOST_TEXT = 8_000
WORD = "word:"
"""How a take that means words of a shape begins."""
FILE = "file"
"""The take that means paths made whole, see `Bearings`."""
_PATH = "path"
_numbers = count()


class Found(NamedTuple):
    """A value and the rows it was found at, `()` for a mention."""

    value: Json
    rows: tuple[int, ...] = ()


@dataclass(slots=True)
class Material:
    """A payload with everything found in it; each kind is looked for once, on first use.

    A take is what is asked of it: a JSON pointer with stars (`/flights/*/date`), a kind of mention
    (`url`), paths made whole (`file`), words of a shape (`word:a_a_9`) or beside a word (`after:id`).
    """

    payload: Json
    bearings: Bearings = field(default_factory=Bearings)
    lacking: set[str] = field(default_factory=set)
    """Takes of which it is known that they name nothing."""
    bound: dict[Hashable, Any] = field(default_factory=dict)
    """By the name of a mapper, what it makes of it."""
    number: int = field(default_factory=_numbers.__next__)
    """What tells it from others."""
    _taken: dict[str, Gradual[Found]] = field(default_factory=dict)
    _leaves: Leaves | None = None
    _text: str | None = None
    _words: dict[str, list[str]] | None = None
    _neighbours: Neighbours | None = None
    _whole: tuple[int, tuple[Found, ...]] | None = None
    """The stamp of the bearings they were made with, and the files it names."""
    _places: tuple[str | None, dict[str, list[tuple[str, Found]]]] | None = None
    """The year it was made with, and takes by what their values read."""

    def take(self, take: str) -> Sequence[Found]:
        """The values that a take names, in order."""
        if take == FILE:
            return self._files()
        return tuple(self._in_year(self._look(take).all())) if take == DATE else self._look(take).all()

    def each(self, take: str) -> Iterable[Found]:
        """The same one by one, looked for only as far as they are wanted."""
        if take == FILE:
            return self._files()
        return self._in_year(self._look(take)) if take == DATE else self._look(take)

    def list_with(self, value: str | int) -> Sequence[Found]:
        """The values of the first list of the payload in which this one stands; empty where it does not."""
        pointer = self.leaves().lists.get(value)
        return () if pointer is None else self.take(pointer)

    def takes_of(self, text: str) -> list[tuple[str, Found]]:
        """Every take that gives a value which reads `text` when case is ignored, and the value it gives."""
        year = self.bearings.year
        if self._places is None or self._places[0] != year:
            self._places = (year, self._index())
        lower = text.lower()
        beside = self._beside().takes_of(lower)
        return [*self._places[1].get(lower, ()), *((take, Found(word)) for take, word in beside)]

    def mentions_part_of(self, path: str) -> bool:
        """Whether it may name a file by the end of its path."""
        return path.rpartition("/")[2] in self.text()

    def text(self) -> str:
        """The texts of the payload, one a line, cut at 8,000 characters."""
        if self._text is None:
            self._text = (self.payload if isinstance(self.payload, str) else self._joined())[:_MOST_TEXT]
        return self._text

    def leaves(self) -> Leaves:
        """The leaves of the payload, none for a text."""
        if self._leaves is None:
            self._leaves = Leaves(None if isinstance(self.payload, str) else self.payload)
        return self._leaves

    def _joined(self) -> str:
        texts: list[str] = []
        length = 0
        for _, _, value in self.leaves():
            if isinstance(value, str):
                texts.append(value)
                length += len(value) + 1
                if length > _MOST_TEXT:
                    break
        return "\n".join(texts)

    def _look(self, take: str) -> Gradual[Found]:
        taken = self._taken.get(take)
        if taken is None:
            taken = self._taken[take] = Gradual(self._found(take))
            if not taken:
                self.lacking.add(take)
        return taken

    def _found(self, take: str) -> Iterator[Found]:
        if take.startswith("/") or not take:
            return (Found(value, rows) for _, rows, value in self.leaves().column(take) if is_value(value))
        if take.startswith(WORD):
            return map(Found, self._shaped().get(take.removeprefix(WORD), ()))
        if is_neighbour(take):
            return map(Found, self._beside().beside(take) if may_stand(take, self.text()) else ())
        return map(Found, mentions(take, self.text()))

    def _files(self) -> tuple[Found, ...]:
        stamp = self.bearings.stamp
        if self._whole is None or self._whole[0] != stamp:
            whole = (self.bearings.whole(str(found.value)) for found in self.take(_PATH))
            self._whole = stamp, tuple(Found(path) for path in dict.fromkeys(whole) if path)
        return self._whole[1]

    def _beside(self) -> Neighbours:
        if self._neighbours is None:
            self._neighbours = Neighbours.of(self.text())
        return self._neighbours

    def _in_year(self, dates: Iterable[Found]) -> Iterator[Found]:
        full = (dated(str(found.value), self.bearings.year) for found in dates)
        return (Found(date) for date in full if date)

    def _shaped(self) -> dict[str, list[str]]:
        if self._words is None:
            self._words = words_by_shape(self.text())
        return self._words

    def _index(self) -> dict[str, list[tuple[str, Found]]]:
        places: dict[str, list[tuple[str, Found]]] = {}
        for pointer, rows, value in self.leaves():
            if not is_value(value):
                continue
            places.setdefault(str(value).lower(), []).append((pointer, Found(value, rows)))
        takes = [*KINDS, *(WORD + shape for shape in self._shaped())]
        for take in takes:
            for found in self.take(take):
                places.setdefault(str(found.value).lower(), []).append((take, found))
        return places
