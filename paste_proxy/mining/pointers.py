"""Where values stand in a JSON payload, by pointers that see through lists.

A pointer is a JSON pointer (RFC 6901) in which `*` stands for any item of a list, or of an object whose
keys look like data (they hold a digit, a slash or a blank); `#` stands for such a key itself. The rows of
a leaf are the positions that its stars took, so `/flights/*/date` and `/flights/*/origin` with equal rows
belong to one flight.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import TypeAlias

from paste_proxy.events.values import Json

_DEEPEST = 12
_MOST_LEAVES = 700
_MOST_LOOKED_AT = 1_400
"""Items of one list or object: a million empty ones must not be gone through for nothing."""
_MOST_ITEMS_COPIED = 12
_CONTAINERS = (dict, list)
_END = object()


Leaf: TypeAlias = tuple[str, tuple[int, ...], Json]
"""A pointer, the rows it was found at, and the value there. They are made by the thousand: no more than a tuple."""


class Leaves:
    """The scalars of a payload, and its short lists as wholes, in document order; at most 700.

    A long payload is gone through only as far as its leaves are wanted.
    """

    def __init__(self, payload: Json) -> None:
        self._payload = payload
        self._known: list[Leaf] = []
        self._growing: Iterator[None] | None = _grow(payload, "", (), 0, self._known)
        self._columns: dict[str, list[Leaf]] = {}
        self._in_columns = 0

    def __iter__(self) -> Iterator[Leaf]:
        at = 0
        while at < len(self._known) or self._more():
            yield self._known[at]
            at += 1

    def all(self) -> list[Leaf]:
        """All of them."""
        while self._more():
            pass
        return self._known

    def column(self, pointer: str) -> Iterator[Leaf]:
        """Those with this pointer."""
        root = f"/{pointer[1:].partition('/')[0]}" if pointer else ""
        if self._roots is not None and root not in self._roots:
            return
        at = 0
        while True:
            column = self._columns.get(pointer, ())
            while at < len(column):
                yield column[at]
                at += 1
            if self._in_columns == len(self._known) and not self._more():
                return
            self._sort()

    @cached_property
    def _roots(self) -> frozenset[str] | None:
        """The first steps of the pointers there are; None if it takes too long to say."""
        match self._payload:
            case dict() as items if len(items) <= _MOST_LEAVES:
                return frozenset(["", "/#", *(_below("", key)[1] for key in items)])
            case list():
                return frozenset(["", "/*"])
            case _:
                return None

    @cached_property
    def lists(self) -> dict[Json, str]:
        """By each text and whole number that stands in a list, the pointer of where it first does."""
        return {
            value: pointer
            for pointer, _, value in reversed(self.all())
            if (type(value) is str or type(value) is int) and "*" in pointer
        }

    def _more(self) -> bool:
        """Look for some more; False if these are all."""
        before = len(self._known)
        while self._growing is not None and len(self._known) == before:
            if next(self._growing, _END) is _END or len(self._known) >= _MOST_LEAVES:
                self._growing = None
                del self._known[_MOST_LEAVES:]
        return len(self._known) > before

    def _sort(self) -> None:
        """Put those that are known into columns."""
        for leaf in islice(self._known, self._in_columns, None):
            column = self._columns.get(leaf[0])
            if column is None:
                column = self._columns[leaf[0]] = []
            column.append(leaf)
        self._in_columns = len(self._known)


def leaves(payload: Json) -> list[Leaf]:
    """All leaves of a payload."""
    return Leaves(payload).all()


def _grow(value: Json, pointer: str, rows: tuple[int, ...], depth: int, found: list[Leaf]) -> Iterator[None]:
    """Add the leaves of a value to those found; stops for a moment after each item of a list that stands in no other,
    and after each object that holds one."""
    if isinstance(value, dict) and depth <= _DEEPEST:
        for item, below, inner in _scan(value, pointer, rows, depth + 1, found):
            yield from _grow(item, below, inner, depth + 1, found)
            yield
    elif isinstance(value, list) and depth <= _DEEPEST:
        for item, below, inner in _items(value, pointer, rows, found):
            _add(item, below, inner, depth + 1, found)
            yield
    else:
        _add(value, pointer, rows, depth, found)


def _add(value: Json, pointer: str, rows: tuple[int, ...], depth: int, found: list[Leaf]) -> None:
    """Add all leaves of a value, or as many as there may be."""
    if depth > _DEEPEST or len(found) >= _MOST_LEAVES:
        return
    if isinstance(value, dict):
        for item, below, inner in _scan(value, pointer, rows, depth + 1, found):
            _add(item, below, inner, depth + 1, found)
    elif isinstance(value, list):
        for item, below, inner in _items(value, pointer, rows, found):
            _add(item, below, inner, depth + 1, found)
    elif value is not None and value != "":
        found.append((pointer, rows, value))


def _scan(
    value: dict[str, Json], pointer: str, rows: tuple[int, ...], depth: int, found: list[Leaf]
) -> Iterator[tuple[Json, str, tuple[int, ...]]]:
    """Add the scalars of an object, and stop at each list and object in it."""
    for row, (key, item) in enumerate(islice(value.items(), _MOST_LOOKED_AT)):
        is_data, below = _below(pointer, key)
        inner = rows
        if is_data:
            inner = (*rows, row)
            found.append((f"{pointer}/#", inner, key))
        if isinstance(item, _CONTAINERS):
            yield item, below, inner
        elif item is not None and item != "" and depth <= _DEEPEST:
            found.append((below, inner, item))


def _items(
    value: list[Json], pointer: str, rows: tuple[int, ...], found: list[Leaf]
) -> Iterator[tuple[Json, str, tuple[int, ...]]]:
    """Add a short list as a whole, and stop at each of its items."""
    if pointer and 0 < len(value) <= _MOST_ITEMS_COPIED:
        found.append((pointer, rows, value))
    below = f"{pointer}/*"
    for row, item in enumerate(islice(value, _MOST_LOOKED_AT)):
        yield item, below, (*rows, row)


@lru_cache(maxsize=8_192)
def _below(pointer: str, key: str) -> tuple[bool, str]:
    """Whether a key looks like data, and the pointer of what it holds: one object for all that it is of."""
    is_data, step = _step(key)
    return is_data, pointer + ("/*" if is_data else step)


@lru_cache(maxsize=4_096)
def _step(key: str) -> tuple[bool, str]:
    """Whether a key looks like data, and the step of a pointer that it makes if it does not."""
    if key in ("*", "#"):
        return False, "/~2" if key == "*" else "/~3"
    is_data = any(character.isdigit() or character in "/ " for character in key)
    return is_data, "/" + key.replace("~", "~0").replace("/", "~1")


def stars(pointer: str) -> list[str]:
    """The list prefixes of a pointer, one for each star, outermost first."""
    parts = pointer.split("/")
    return ["/".join(parts[:index]) for index, part in enumerate(parts) if part in ("*", "#")]
