"""Looking into JSON that may have any shape: what is not as expected reads as empty.

Peers leave fields out, set them to null or give them another type; a reader of their traffic shrugs.
"""

import json

from paste_proxy.events.values import Json, canonical_text, loads


def read(text: bytes) -> Json:
    """The value of a JSON text, None where it is none.

    Falls back on a more tolerant reader: an infinite log probability somewhere must not cost the rest
    of the message.
    """
    try:
        return loads(text)
    except ValueError:
        pass
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def mapping(value: Json) -> dict[str, Json]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Json) -> list[Json]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: Json) -> str:
    """The value if it is a string, else the empty one."""
    return mended(value) if isinstance(value, str) else ""


def piece(value: Json) -> str:
    """Like `string`, of a text cut anywhere: half of a surrogate pair waits for its other half."""
    return value if isinstance(value, str) else ""


def mended(text: str) -> str:
    """The text with the halves of surrogate pairs joined, and a half that stays alone replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def count(value: Json) -> int | None:
    """The value if it is a whole number, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def canonical(value: Json) -> str:
    """The canonical text of a value, `?` for one that has none (an infinite number, too deep)."""
    try:
        return canonical_text(value)
    except ValueError:
        return "?"
