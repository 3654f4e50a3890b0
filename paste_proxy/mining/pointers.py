"""Where values stand in a JSON payload, by pointers that see through lists.

A pointer is a JSON pointer (RFC 6901) in which `*` stands for any item of a list, or of an object whose
keys look like data (they hold a digit, a slash or a blank); `#` stands for such a key itself. The rows of
a leaf are the positions that its stars took, so `/flights/*/date` and `/flights/*/origin` with equal rows
belong to one flight.
"""

from functools import lru_cache
from typing import NamedTuple

from paste_proxy.events.values import Json

_DEEPEST = 12
_MOST_LEAVES = 2_000
_MOST_ITEMS_COPIED = 12


class Leaf(NamedTuple):
    """A value and where it stands."""

    pointer: str
    rows: tuple[int, ...]
    value: Json


def leaves(payload: Json) -> list[Leaf]:
    """The scalars of a payload, and its short lists as wholes, in document order; at most 2,000."""
    found: list[Leaf] = []
    _walk(payload, "", (), 0, found)
    return found[:_MOST_LEAVES]


def _walk(value: Json, pointer: str, rows: tuple[int, ...], depth: int, found: list[Leaf]) -> None:
    if depth > _DEEPEST or len(found) >= _MOST_LEAVES:
        return
    if isinstance(value, dict):
        for row, (key, item) in enumerate(value.items()):
            is_data, step = _step(key)
            if is_data:
                found.append(Leaf(pointer + "/#", (*rows, row), key))
                _walk(item, pointer + "/*", (*rows, row), depth + 1, found)
            else:
                _walk(item, pointer + step, rows, depth + 1, found)
            if len(found) >= _MOST_LEAVES:
                break
    elif isinstance(value, list):
        if pointer and 0 < len(value) <= _MOST_ITEMS_COPIED:
            found.append(Leaf(pointer, rows, value))
        for row, item in enumerate(value):
            _walk(item, pointer + "/*", (*rows, row), depth + 1, found)
            if len(found) >= _MOST_LEAVES:
                break
    elif value is not None and value != "":
        found.append(Leaf(pointer, rows, value))


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
