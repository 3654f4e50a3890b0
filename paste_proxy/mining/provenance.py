"""Which sessions and tasks a pool was mined from, told by digests: a pool should be measured on others."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import PurePath

from paste_proxy.events.types import ToolCall
from paste_proxy.mining.groups import Recorded, names_of
from paste_proxy.mining.pool import Origin

KEPT = 1_000
"""Digests kept of a pool's sessions, and of its tasks, the smallest: of more, a sample that does not depend on their
order."""


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
        tasks=tasks_of(sessions),
    )


def tasks_of(sessions: Iterable[Recorded]) -> tuple[str, ...]:
    """Digests of what tells the tasks of sessions, beside their ids, see `groups`."""
    return digests(name for session in sessions for name in names_of(session) if name != f"id {session.id}")


def _named(source: str) -> str:
    """A pool goes to others, whom the folders of this machine do not concern."""
    path = PurePath(source)
    return path.name if path.is_absolute() else source


def digests(ids: Iterable[str]) -> tuple[str, ...]:
    """Digests of the ids of sessions or of tasks, ascending, as many as are kept."""
    return tuple(sorted({_digest(one) for one in ids})[:KEPT])


def known(sessions: Iterable[Recorded], ids: Iterable[str], tasks: Iterable[str]) -> tuple[int, int]:
    """How many of these sessions are known to be among those of the digests, and how many others are of their tasks."""
    known_ids, known_tasks = frozenset(ids), frozenset(tasks)
    same = others = 0
    for session in sessions:
        if _digest(session.id) in known_ids:
            same += 1
        elif not known_tasks.isdisjoint(map(_digest, names_of(session))):
            others += 1
    return same, others


def _digest(name: str) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
