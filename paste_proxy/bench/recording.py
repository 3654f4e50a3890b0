"""A recording of any size: the packaged sessions over and over, each copy about other things.

What a session calls by name (a word of its arguments that holds a digit, or that its user said) bears another name
in each copy, wherever it stands. So copies are different tasks, and what holds within a session holds in its copies.
"""

import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from paste_proxy.events.values import Json, dumps, loads
from paste_proxy.importers.files import numbered_lines, trace_files
from paste_proxy.share import share

_WORD = re.compile(r"\w{4,}")
_MARK = "\ue000"
"""Stands where a copy's own number goes; of the private use area, so in no text."""
_FAST = 1
_Record = dict[str, Json]


@dataclass(frozen=True, slots=True)
class _Original:
    """A packaged session as lines with marks."""

    lines: bytes
    events: int

    def copy(self, number: int) -> bytes:
        return self.lines.replace(_MARK.encode(), f"x{number}".encode())


def write_recording(out: Path, events: int, on_events: Callable[[int], None] = lambda _: None) -> int:
    """Write a packed trace of at least so many events, its last session whole; gives their number.

    `on_events` is told of each session's number of events.
    """
    originals = list(_originals())
    written = number = 0
    with gzip.open(out, "wb", compresslevel=_FAST) as file:
        while written < events:
            session = originals[number % len(originals)]
            file.write(session.copy(number // len(originals)))
            written, number = written + session.events, number + 1
            on_events(session.events)
    return written


def _originals() -> Iterator[_Original]:
    sessions: dict[str, list[_Record]] = {}
    for path in trace_files([share("traces")]):
        for _, line in numbered_lines(path):
            record = cast("_Record", loads(line))
            sessions.setdefault(str(record["session"]), []).append(record)
    for records in sessions.values():
        names = _names(records)
        lines = [dumps(_marked_record(record, names)) + b"\n" for record in records]
        yield _Original(b"".join(lines), len(lines))


def _names(records: list[_Record]) -> frozenset[str]:
    asked = {word for record in records for word in _words(record.get("args"))}
    said = {word for record in records if record["type"] == "user" for word in _words(record.get("output"))}
    return frozenset(word for word in asked if word in said or any(map(str.isdigit, word)))


def _words(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield from _WORD.findall(value)
        case list():
            for inner in value:
                yield from _words(inner)
        case dict():
            for inner in value.values():
                yield from _words(inner)


def _marked_record(record: _Record, names: frozenset[str]) -> _Record:
    told: _Record = {key: _marked(record[key], names) for key in ("args", "output") if key in record}
    if record["type"] == "user":
        told["output"] = f"{told['output']} {_MARK}"
    return {**record, **told, "session": f"{_MARK}/{record['session']}"}


def _marked(value: Json, names: frozenset[str]) -> Json:
    match value:
        case str():
            return _WORD.sub(lambda word: word[0] + _MARK if word[0] in names else word[0], value)
        case list():
            return [_marked(inner, names) for inner in value]
        case dict():
            return {key: _marked(inner, names) for key, inner in value.items()}
        case _:
            return value
