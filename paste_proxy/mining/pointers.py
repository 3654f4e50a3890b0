"""Where values stand in a JSON payload, by pointers that see through lists.

A pointer is a JSON pointer (RFC 6901) in which `*` stands for any item of a list, or of an object whose
keys look like data (they hold a digit, a slash or a blank); `#` stands for such a key itself. The rows of
a leaf are the positions that its stars took, so `/flights/*/date` and `/flights/*/origin` with equal rows
belong to one flight.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from paste_proxy.events.values import Json

_DEEPEST = 12
_MOST_LEAVES = 2_000
_MOST_ITEMS_COPIED = 12


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value and where it stands."""

    pointer: str
    rows: tuple[int, ...]
    value: Json


def leaves(payload: Json) -> list[Leaf]:
    """The scalars of a payload, and its short lists as wholes, in document order; at most 2,000."""
    found: list[Leaf] = []
    for leaf in _walk(payload, "", (), 0):
        found.append(leaf)
        if len(found) >= _MOST_LEAVES:
            break
    return found


def _walk(value: Json, pointer: str, rows: tuple[int, ...], depth: int) -> Iterator[Leaf]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        if pointer and 0 < len(value) <= _MOST_ITEMS_COPIED:
            yield Leaf(pointer, rows, value)
        for row, item in enumerate(value):
            yield from _walk(item, pointer + "/*", (*rows, row), depth + 1)
    elif isinstance(value, dict):
        yield from _walk_object(value, pointer, rows, depth)
    elif value is not None and value != "":
        yield Leaf(pointer, rows, value)


def _walk_object(value: dict[str, Json], pointer: str, rows: tuple[int, ...], depth: int) -> Iterator[Leaf]:
    for row, (key, item) in enumerate(value.items()):
        if _is_data(key):
            yield Leaf(pointer + "/#", (*rows, row), key)
            yield from _walk(item, pointer + "/*", (*rows, row), depth + 1)
        else:
            yield from _walk(item, f"{pointer}/{_escape(key)}", rows, depth + 1)


def _is_data(key: str) -> bool:
    return any(character.isdigit() or character in "/ " for character in key)


def _escape(key: str) -> str:
    if key in ("*", "#"):
        return "~2" if key == "*" else "~3"
    return key.replace("~", "~0").replace("/", "~1")


def stars(pointer: str) -> list[str]:
    """The list prefixes of a pointer, one for each star, outermost first."""
    parts = pointer.split("/")
    return ["/".join(parts[:index]) for index, part in enumerate(parts) if part in ("*", "#")]
