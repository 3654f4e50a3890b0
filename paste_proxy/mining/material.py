"""What one event holds, taken apart once and kept: values by place, values by kind, and the way back."""

from dataclasses import dataclass, field

from paste_proxy.events.values import Json
from paste_proxy.mining.bearings import Bearings
from paste_proxy.mining.dates import dated
from paste_proxy.mining.mentions import DATE, KINDS, mentioned, words_by_shape
from paste_proxy.mining.neighbours import Neighbours, is_neighbour
from paste_proxy.mining.pointers import Leaf, leaves

_MOST_TEXT = 8_000
WORD = "word:"
"""How a take that means words of a shape begins."""
FILE = "file"
"""The take that means paths made whole, see `Bearings`."""
_PATH = "path"


@dataclass(frozen=True, slots=True)
class Found:
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
    _taken: dict[str, tuple[Found, ...]] = field(default_factory=dict)
    _leaves: list[Leaf] | None = None
    _text: str | None = None
    _words: dict[str, list[str]] | None = None
    _columns: dict[str, list[Leaf]] | None = None
    """The leaves by pointer."""
    _neighbours: Neighbours | None = None
    _whole: tuple[int, tuple[Found, ...]] | None = None
    """The stamp of the bearings they were made with, and the files it names."""
    _places: tuple[str | None, dict[str, list[tuple[str, Found]]]] | None = None
    """The year it was made with, and takes by what their values read."""

    def take(self, take: str) -> tuple[Found, ...]:
        """The values that a take names, in order."""
        if take == FILE:
            return self._files()
        taken = self._taken.get(take)
        if taken is None:
            taken = self._taken[take] = tuple(self._look(take))
        return self._in_year(taken) if take == DATE else taken

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
            if isinstance(self.payload, str):
                self._text = self.payload[:_MOST_TEXT]
            else:
                texts = (leaf.value for leaf in self.leaves() if isinstance(leaf.value, str))
                self._text = "\n".join(texts)[:_MOST_TEXT]
        return self._text

    def leaves(self) -> list[Leaf]:
        """The leaves of the payload, none for a text."""
        if self._leaves is None:
            self._leaves = [] if isinstance(self.payload, str) else leaves(self.payload)
        return self._leaves

    def _look(self, take: str) -> list[Found]:
        if take.startswith("/") or not take:
            return [Found(leaf.value, leaf.rows) for leaf in self._column(take)]
        if take.startswith(WORD):
            return [Found(word) for word in self._shaped().get(take.removeprefix(WORD), [])]
        if is_neighbour(take):
            return [Found(word) for word in self._beside().beside(take)]
        return [Found(value) for value in mentioned(take, self.text())]

    def _files(self) -> tuple[Found, ...]:
        stamp = self.bearings.stamp
        if self._whole is None or self._whole[0] != stamp:
            whole = (self.bearings.whole(str(found.value)) for found in self.take(_PATH))
            self._whole = stamp, tuple(Found(path) for path in dict.fromkeys(whole) if path)
        return self._whole[1]

    def _column(self, pointer: str) -> list[Leaf]:
        if self._columns is None:
            self._columns = {}
            for leaf in self.leaves():
                self._columns.setdefault(leaf.pointer, []).append(leaf)
        return self._columns.get(pointer, [])

    def _beside(self) -> Neighbours:
        if self._neighbours is None:
            self._neighbours = Neighbours.of(self.text())
        return self._neighbours

    def _in_year(self, dates: tuple[Found, ...]) -> tuple[Found, ...]:
        full = (dated(str(found.value), self.bearings.year) for found in dates)
        return tuple(Found(date) for date in full if date)

    def _shaped(self) -> dict[str, list[str]]:
        if self._words is None:
            self._words = words_by_shape(self.text())
        return self._words

    def _index(self) -> dict[str, list[tuple[str, Found]]]:
        places: dict[str, list[tuple[str, Found]]] = {}
        for leaf in self.leaves():
            places.setdefault(str(leaf.value).lower(), []).append((leaf.pointer, Found(leaf.value, leaf.rows)))
        takes = [*KINDS, *(WORD + shape for shape in self._shaped())]
        for take in takes:
            for found in self.take(take):
                places.setdefault(str(found.value).lower(), []).append((take, found))
        return places
