"""Where values stand in a JSON payload, by pointers that see through lists.

A pointer is a JSON pointer (RFC 6901) in which `*` stands for any item of a list, or of an object whose
keys look like data (they hold a digit, a slash or a blank); `#` stands for such a key itself. The rows of
a leaf are the positions that its stars took, so `/flights/*/date` and `/flights/*/origin` with equal rows
belong to one flight.
"""

from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

from paste_proxy.events.values import Json

_DEEPEST = 12
_MOST_LEAVES = 700
_MOST_LOOKED_AT = 1_400
"""Items of one list: a million empty ones must not be gone through for nothing."""
_MOST_ITEMS_COPIED = 12


class Leaf(NamedTuple):
    """A value and where it stands."""

    pointer: str
    rows: tuple[int, ...]
    value: Json


_leaf = partial(tuple.__new__, Leaf)
"""A leaf from a tuple. They are made by the thousand: the constructor that a named tuple has takes twice as long."""


def leaves(payload: Json) -> list[Leaf]:
    """The scalars of a payload, and its short lists as wholes, in document order; at most 700."""
    found: list[Leaf] = []
    _add(payload, "", (), 0, found)
    return found[:_MOST_LEAVES]


def _add(value: Json, pointer: str, rows: tuple[int, ...], depth: int, found: list[Leaf]) -> None:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        _add_object(value, pointer, rows, depth + 1, found)
    elif isinstance(value, list):
        _add_list(value, pointer, rows, depth + 1, found)
    elif value is not None and value != "":
        found.append(_leaf((pointer, rows, value)))


def _add_object(value: dict[str, Json], pointer: str, rows: tuple[int, ...], depth: int, found: list[Leaf]) -> None:
    for row, (key, item) in enumerate(value.items()):
        is_data, below = _below(pointer, key)
        inner = rows
        if is_data:
            inner = (*rows, row)
            found.append(_leaf((f"{pointer}/#", inner, key)))
        _add(item, below, inner, depth, found)
        if len(found) >= _MOST_LEAVES:
            return


def _add_list(value: list[Json], pointer: str, rows: tuple[int, ...], depth: int, found: list[Leaf]) -> None:
    if pointer and 0 < len(value) <= _MOST_ITEMS_COPIED:
        found.append(_leaf((pointer, rows, value)))
    below = f"{pointer}/*"
    for row, item in enumerate(islice(value, _MOST_LOOKED_AT)):
        _add(item, below, (*rows, row), depth, found)
        if len(found) >= _MOST_LEAVES:
            return


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
