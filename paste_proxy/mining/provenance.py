"""Which sessions a pool was mined from, told by digests of their ids: a pool should be measured on others."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import PurePath

from paste_proxy.events.types import ToolCall
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.pool import Origin

KEPT = 1_000
"""Digests kept of a pool's sessions, the smallest: of more sessions, a sample that does not depend on their order."""


def origin_of(sessions: Sequence[Recorded], groups: Sequence[str]) -> Origin:
    """What a pool of these sessions says of them.

    Args:
        groups: the task that each session belongs to.
    """
    return Origin(
        sessions=len(sessions),
        groups=len(set(groups)),
        calls=sum(isinstance(event, ToolCall) for session in sessions for event in session.events),
        sources=tuple(sorted({_named(session.source) for session in sessions})),
        ids=digests(session.id for session in sessions),
    )


def _named(source: str) -> str:
    """A pool goes to others, whom the folders of this machine do not concern."""
    path = PurePath(source)
    return path.name if path.is_absolute() else source


def digests(ids: Iterable[str]) -> tuple[str, ...]:
    """Digests of session ids, ascending, as many as are kept."""
    return tuple(sorted({_digest(one) for one in ids})[:KEPT])


def known(ids: Iterable[str], kept: Iterable[str]) -> int:
    """How many of these sessions are known to be among those of the digests."""
    found = frozenset(kept)
    return sum(_digest(one) in found for one in ids)


def _digest(name: str) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
