"""Fingerprints by which a message is known again in the next request's history.

Clients send an assistant's turn back in their own manner: other white space in the arguments, text
trimmed, null or a list of parts for content, fields dropped, ids renamed. A digest is over what all of
them keep. Call ids of the assistant's own turn are not among it; those of tool messages are.
"""

from collections.abc import Iterable
from hashlib import blake2b

from paste_proxy.events.invocation import read_arguments
from paste_proxy.events.values import Json, canonical_text

_SIZE = 16
_MARKERS = {"cache_control"}
"""Fields that clients move from message to message as the history grows."""


def whole_arguments(raw: str | bytes | dict[str, Json] | None) -> tuple[dict[str, Json], str] | None:
    """A call's arguments and the text of them for digests; None if they are not one whole JSON object."""
    try:
        arguments = read_arguments(raw)
        return arguments, _as_kept(arguments)
    except ValueError:
        return None


def digest_text(value: Json) -> str:
    """The text of any value for digests, `?` for one that has none (too deep)."""
    try:
        return _as_kept(value)
    except ValueError:
        return "?"


def assistant_digest(text: str, calls: Iterable[tuple[str, str]]) -> bytes:
    """Digest of an assistant's turn: its text and, per call, name and canonical arguments."""
    return _digest("assistant", text.strip(), *(part for call in calls for part in call))


def output_digest(call_id: str, text: str, parts: Iterable[Json] = ()) -> bytes:
    """Digest of a tool's answer as the agent sends it: whose it is, its text, its parts that are no text."""
    return _digest("tool", call_id, text, *(_part_text(part) for part in parts))


def message_digest(role: str, text: str, parts: Iterable[Json] = ()) -> bytes:
    """Digest of any other message: role, text, and its parts that are no text."""
    return _digest(role, text, *(_part_text(part) for part in parts))


def _part_text(part: Json) -> str:
    kept = {key: value for key, value in part.items() if key not in _MARKERS} if isinstance(part, dict) else part
    return digest_text(kept)


def _as_kept(value: Json) -> str:
    """The canonical text of what JavaScript makes of a value when it reads and writes it.

    Raises:
        ValueError: as `canonical_text`.
    """
    try:
        return canonical_text(_in_doubles(value))
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault


def _in_doubles(value: Json) -> Json:
    """The value with every number as the nearest double; null where there is none, and zero without a sign."""
    match value:
        case dict():
            return {key: _in_doubles(inner) for key, inner in value.items()}
        case list():
            return [_in_doubles(inner) for inner in value]
        case bool():
            return value
        case int() | float():
            return _double(value)
        case _:
            return value


def _double(number: float) -> float | None:
    try:
        return float(number) + 0.0
    except OverflowError:
        return None


def _digest(*parts: str) -> bytes:
    """Each part with its length before it, so that no two lists of parts run together."""
    state = blake2b(digest_size=_SIZE)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(raw))
        state.update(raw)
    return state.digest()
