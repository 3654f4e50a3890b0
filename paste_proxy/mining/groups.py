"""Which recorded sessions belong together, so that replays of one task never stand on both sides of a split.

Two sessions are of one group if their ids differ only in the number of a trial, or if they open with the
same words and these are more than a greeting.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Protocol, TypeVar

from paste_proxy.events.types import Event, UserMessage

_TRIAL = re.compile(r"[-_./]?(?:trial|attempt|run|rollout|sample|try)[-_]?\d+(?:[-_.]\d+)*$", re.IGNORECASE)

_LEAST_WORDS = 8


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


Session = TypeVar("Session", bound=Recorded)


def groups_of(sessions: Sequence[Recorded]) -> list[str]:
    """The group of each session, named by the least id of its members."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    names = ["id " + _TRIAL.sub("", session.id) for session in sessions]
    for name, session in zip(names, sessions, strict=True):
        opening = _opening(session.events)
        if opening:
            one, other = find(name), find(opening)
            leader[max(one, other)] = min(one, other)
    return [find(name) for name in names]


def fold_of(group: str, folds: int) -> int:
    """The fold a group falls into: by the hash of its name, the same in every run."""
    return int.from_bytes(blake2b(group.encode("utf-8", "surrogatepass"), digest_size=4).digest()) % folds


def without_groups_of(sessions: Sequence[Session], others: Sequence[Recorded]) -> list[Session]:
    """The sessions that share no group with any of the others."""
    groups = groups_of([*sessions, *others])
    taken = set(groups[len(sessions) :])
    return [session for session, group in zip(sessions, groups, strict=False) if group not in taken]


def _opening(events: Iterable[Event]) -> str | None:
    for event in events:
        if isinstance(event, UserMessage):
            words = event.text.lower().split()
            return "opening " + " ".join(words) if len(words) >= _LEAST_WORDS else None
    return None
