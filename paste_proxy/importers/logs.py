"""Logs of one session each, in one file or several."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from paste_proxy.events.values import Json
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt, records
from paste_proxy.importers.transcript import Transcript

_LOOKED_AT = 50
"""Records among which the first message of a session is looked for."""


class Log(Protocol):
    """One session being read."""

    transcript: Transcript

    def take(self, record: dict[str, Json]) -> None:
        """Take the next record."""


def grouped(files: Sequence[Path], session_of: Callable[[Path], str]) -> Iterable[list[Path]]:
    """The files in groups, those of one session together.

    Args:
        session_of: what tells a file's session from others; blank for a file that says nothing of it.
    """
    groups: dict[str, list[Path]] = {}
    for path in files:
        groups.setdefault(session_of(path) or str(path), []).append(path)
    return groups.values()


def resumed(files: Sequence[Path]) -> Iterable[list[Path]]:
    """The files in groups: those whose first `uuid` is the same begin with a copy and are one session."""
    return grouped(files, _first_uuid)


def sessions(
    groups: Iterable[list[Path]],
    begin: Callable[[Path], Log],
    records_of: Callable[[Path], Iterable[dict[str, Json]]],
) -> Iterator[RecordedSession]:
    """What groups of files tell, one log a group.

    Args:
        begin: makes the log that begins with this file.
    """
    for group in groups:
        log = begin(group[0])
        for path in group:
            for record in records_of(path):
                log.take(record)
        yield from log.transcript.sessions()


def _first_uuid(path: Path) -> str:
    looked_at = zip(range(_LOOKED_AT), records(path, Corrupt(skip=True)), strict=False)
    named = (record.get("uuid") for _, (_, record) in looked_at)
    return next((uuid for uuid in named if isinstance(uuid, str)), "")
