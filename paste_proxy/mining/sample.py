"""Which sessions are learned from where there are more than memory is to hold: whole task groups, by their hash.

Trials of one task stay together, and which groups are taken depends on their names and sizes alone, not on the
order of the files; so every machine takes the same ones.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

CALLS = 20_000
"""Tool calls learned from, unless a person says otherwise."""
_SHARES = 8
"""A group takes at most one of so many shares: a single task that was run a thousand times is not all there is."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A recorded session, how large it is, and the group that it belongs to."""

    id: str
    group: str
    calls: int


def sampled(sessions: Iterable[Sized], calls: int) -> frozenset[str]:
    """Ids of the sessions to learn from: all, if they hold no more than so many calls in all.

    Else groups in the order of their hash, each whole if it fits into what is left; of a group larger than its
    share, as many of its sessions as that holds, or one, in the order of theirs. A session without calls counts as
    one call.
    """
    groups: dict[str, list[Sized]] = defaultdict(list)
    for session in sessions:
        groups[session.group].append(session)
    everything = sum(map(_size, groups.values())) <= calls
    share, left = (calls if everything else calls // _SHARES), calls
    kept: list[str] = []
    for name in sorted(groups, key=_hash):
        members = _within(groups[name], share)
        if _size(members) <= left:
            kept += (member.id for member in members)
            left -= _size(members)
    return frozenset(kept)


def _within(members: list[Sized], share: int) -> list[Sized]:
    if _size(members) <= share:
        return members
    kept: list[Sized] = []
    for member in sorted(members, key=lambda member: _hash(member.id)):
        if not kept or _size([*kept, member]) <= share:
            kept.append(member)
    return kept


def _size(members: Iterable[Sized]) -> int:
    return sum(max(member.calls, 1) for member in members)


def _hash(name: str) -> tuple[bytes, str]:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, person=b"sample").digest(), name
