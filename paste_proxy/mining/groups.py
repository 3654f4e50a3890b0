"""Which recorded sessions belong together, so that replays of one task never stand on both sides of a split.

Two sessions are of one group if their ids differ only in the number of a trial, or if they open with the
same words, see `openings`.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Protocol, TypeVar

from paste_proxy.events.types import Event, UserMessage
from paste_proxy.mining.openings import Opening

_TRIAL = re.compile(r"[-_./]?(?:trial|attempt|run|rollout|sample|try)[-_]?\d+(?:[-_.]\d+)*$", re.IGNORECASE)


class Recorded(Protocol):
    """A recorded session."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def source(self) -> str:
        """Where it was recorded."""

    @property
    def events(self) -> Sequence[Event]:
        """Its events in order."""


class Opened(Protocol):
    """What there is to know of a recorded session to tell its group."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def opening(self) -> str | None:
        """The digest of its `Opening`."""


Session = TypeVar("Session", bound=Opened)


def groups_of(sessions: Sequence[Recorded]) -> list[str]:
    """The group of each session, named by the least id of its members."""
    return _grouped(map(names_of, sessions))


def groups_of_opened(sessions: Sequence[Opened]) -> list[str]:
    """As `groups_of`, of sessions of which no more is known."""
    return _grouped(_names(session.id, session.opening) for session in sessions)


def names_of(session: Recorded) -> list[str]:
    """What tells the task of a session; two that share a name are of one group."""
    return _names(session.id, opening_of(session.events))


def _names(id_: str, opening: str | None) -> list[str]:
    of_id = "id " + _TRIAL.sub("", id_)
    return [of_id, f"opening {opening}"] if opening else [of_id]


def _grouped(sessions: Iterable[list[str]]) -> list[str]:
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    firsts: list[str] = []
    for first, *more in sessions:
        firsts.append(first)
        for name in more:
            one, other = find(first), find(name)
            leader[max(one, other)] = min(one, other)
    return [find(first) for first in firsts]


def fold_of(group: str, folds: int) -> int:
    """The fold a group falls into: by the hash of its name, the same in every run."""
    return int.from_bytes(blake2b(group.encode("utf-8", "surrogatepass"), digest_size=4).digest()) % folds


def without_groups_of(sessions: Sequence[Session], others: Sequence[Opened]) -> list[Session]:
    """The sessions that share no group with any of the others."""
    groups = groups_of_opened([*sessions, *others])
    taken = set(groups[len(sessions) :])
    return [session for session, group in zip(sessions, groups, strict=False) if group not in taken]


def opening_of(events: Iterable[Event]) -> str | None:
    """What stands for the words that a session opens with; None if they are no more than a greeting."""
    opening = Opening()
    for at, event in enumerate(events):
        if isinstance(event, UserMessage):
            opening.hear(event.text, (at,))
    return opening.digest()
