"""Recorded sessions from files: the neutral form of public corpora, and our own event log.

A neutral line has `session, seq, ts, type` (`user`, `llm_turn`, `tool_call` or `tool_output`) and, as its
type needs them, `agent, tool, args, call_id, output, status, duration_s, turn_id, truncated, source`. A
line of the event log has a version `v`. A file may hold either, even both.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.events.codec import event_of
from paste_proxy.events.types import Event
from paste_proxy.events.values import Json, loads
from paste_proxy.importers.files import numbered_lines, trace_files
from paste_proxy.importers.neutral_record import Step, step_of
from paste_proxy.importers.pairing import paired
from paste_proxy.importers.records import Corrupt


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """One session, its events in order."""

    id: str
    source: str
    """Where it was recorded: the source its lines name, else the file."""
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What files held. Sessions stand in the order in which they first appear."""

    sessions: tuple[RecordedSession, ...]
    bad: int = 0
    """Corrupt lines left out."""
    torn: int = 0
    """Files whose last line was cut by the end of their writer."""


def read_sessions(paths: Iterable[Path], *, skip_bad: bool = False) -> list[RecordedSession]:
    """The sessions of files and folders.

    Raises:
        InputFault: naming file and line, for a corrupt line (unless `skip_bad`) or an unreadable file.
    """
    return list(read(paths, skip_bad=skip_bad).sessions)


def read(
    paths: Iterable[Path],
    *,
    skip_bad: bool = False,
    on_file: Callable[[Path], None] = lambda _: None,
    on_bytes: Callable[[int], None] = lambda _: None,
    among: Container[str] | None = None,
) -> Reading:
    """Read files and folders, or only the sessions `among` whose ids they are.

    `on_file` is called with each file before it is read, `on_bytes` as by `numbered_lines`. A session's events are
    ordered by file, then by `seq`.

    Raises:
        InputFault: as `read_sessions`.
    """
    sessions: dict[str, _Gathered] = {}
    corrupt = Corrupt(skip=skip_bad, on_file=on_file)
    for order, source, step in steps_of(paths, corrupt, on_bytes=on_bytes, among=among):
        sessions.setdefault(step.event.session, _Gathered(source, [])).steps.append((order, step))
    found = tuple(_session(id_, gathered) for id_, gathered in sessions.items())
    return Reading(found, corrupt.bad, corrupt.torn)


def steps_of(
    paths: Iterable[Path],
    corrupt: Corrupt,
    *,
    on_bytes: Callable[[int], None] = lambda _: None,
    among: Container[str] | None = None,
) -> Iterator[tuple[int, str, Step]]:
    """The steps of all sessions, or of those `among`, as their lines stand in the files.

    Each with the number of its file and the source that it names.

    Raises:
        InputFault: as `read_sessions`.
    """
    for order, path in enumerate(trace_files(paths)):
        corrupt.on_file(path)
        for number, line in numbered_lines(path, on_bytes):
            try:
                record = loads(line)
                if among is not None and _session_of(record) not in among:
                    continue
                step = _step(record)
            except ValueError as fault:
                if line.endswith(b"\n"):
                    corrupt.found(f"{path}:{number}", str(fault), "an event line")
                else:
                    corrupt.torn += 1
                continue
            yield order, _source(record, path), step


@dataclass(frozen=True, slots=True)
class _Gathered:
    source: str
    steps: list[tuple[int, Step]]


def _step(record: Json) -> Step:
    if isinstance(record, dict) and "v" in record:
        seq, event = event_of(record)
        return Step(seq, event, neutral=False)
    return step_of(record)


def _session_of(record: Json) -> Json:
    session = record.get("session") if isinstance(record, dict) else None
    return session if isinstance(session, str) else None


def _source(record: Json, path: Path) -> str:
    source = record.get("source") if isinstance(record, dict) and "v" not in record else None
    return source if isinstance(source, str) else str(path)


def _session(id_: str, gathered: _Gathered) -> RecordedSession:
    gathered.steps.sort(key=lambda entry: (entry[0], entry[1].seq))
    return RecordedSession(id_, gathered.source, tuple(paired([step for _, step in gathered.steps])))
