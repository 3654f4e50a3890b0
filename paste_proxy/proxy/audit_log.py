"""The part of an event log that tells of running ahead, read back."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from paste_proxy.errors import InputFault
from paste_proxy.events.codec import BadLine, read_lines
from paste_proxy.events.types import Event

_MARKS = (b'"speculation"', b'"refusals"')
"""In every line that matters, and in few others: the rest need not be read."""


def log_files(paths: Iterable[Path], since: float) -> list[Path]:
    """The files of these files and folders, oldest first, but for those last written before.

    Args:
        since: in seconds since 1970.

    Raises:
        InputFault: there is no such file or folder, or no log in it.
    """
    found = list(chain.from_iterable(map(_files, paths)))
    return [path for path in found if path.stat().st_mtime >= since]


def read_log(paths: Iterable[Path]) -> Iterator[Event | BadLine]:
    """What these files tell of running ahead; a cut last line is passed over.

    Raises:
        InputFault: a file cannot be read.
    """
    for path in paths:
        try:
            with path.open("rb") as file:
                for event in read_lines(line for line in file if any(mark in line for mark in _MARKS)):
                    if not (isinstance(event, BadLine) and event.torn):
                        yield event
        except OSError as fault:
            raise InputFault(str(path), f"cannot be read ({fault.strerror})", "an event log") from fault


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputFault(str(path), "there is nothing", "an event log: a file or a recording's directory")
    files = sorted(path.glob("events-*.jsonl"))
    if not files:
        raise InputFault(str(path), "no events-*.jsonl in it", "a recording's directory")
    return files
