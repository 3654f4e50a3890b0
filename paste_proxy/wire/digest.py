"""Fingerprints by which a message is known again in the next request's history.

Clients send an assistant's turn back in their own manner: other white space in the arguments, text
trimmed, null or a list of parts for content, fields dropped, ids renamed. A digest is over what all of
them keep. Call ids of the assistant's own turn are not among it; those of tool messages are.
"""

from collections.abc import Iterable
from hashlib import blake2b

from paste_proxy.events.invocation import read_arguments
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.wire.loose import canonical

_SIZE = 16
_MARKERS = {"cache_control"}
"""Fields that clients move from message to message as the history grows."""


def whole_arguments(raw: str | bytes | dict[str, Json] | None) -> tuple[dict[str, Json], str] | None:
    """A call's arguments and their canonical text; None if they are not one whole JSON object."""
    try:
        arguments = read_arguments(raw)
        return arguments, canonical_text(arguments)
    except ValueError:
        return None


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
    return canonical(kept)


def _digest(*parts: str) -> bytes:
    """Each part with its length before it, so that no two lists of parts run together."""
    state = blake2b(digest_size=_SIZE)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(raw))
        state.update(raw)
    return state.digest()
