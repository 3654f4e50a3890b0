"""Recorded sessions as `mine` and `evaluate` take them: event lines, and a word where it is another form."""

import sys
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.importers.outlines import Outline

_Found = TypeVar("_Found")


def read_traces(paths: Sequence[Path], among: Container[str] | None = None) -> "list[RecordedSession]":
    """The sessions of event lines, or those `among` whose ids they are.

    Raises:
        InputFault: as `read_sessions`; for a log of another form that is known, saying which and how it becomes
            event lines.
    """
    from paste_proxy.importers.neutral import read

    with _reading(paths) as on_bytes:
        return _event_lines(paths, lambda: list(read(paths, among=among, on_bytes=on_bytes).sessions))


def outline_traces(paths: Sequence[Path]) -> "list[Outline]":
    """The sessions of event lines in outline; the files can be read again for their events.

    Raises:
        InputFault: as `read_traces`, and for what is no file: a pipe can be read once only.
    """
    from paste_proxy.importers.files import trace_files
    from paste_proxy.importers.outlines import outlines

    for path in trace_files(paths):
        if not path.is_file():
            raise InputFault(str(path), "can be read once only", "a file (packed ones, .jsonl.gz, are read too)")
    with _reading(paths) as on_bytes:
        return _event_lines(paths, lambda: outlines(paths, on_bytes))


@contextmanager
def _reading(paths: Sequence[Path]) -> Iterator[Callable[[int], None]]:
    """A bar of the bytes of the files, on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.importers.files import trace_files

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("reading", total=sum(path.stat().st_size for path in trace_files(paths)))
        yield lambda read: progress.advance(task, read)


def _event_lines(paths: Sequence[Path], read: Callable[[], list[_Found]]) -> list[_Found]:
    try:
        sessions = read()
    except InputFault as fault:
        raise _of_a_form(paths) or fault from fault
    if not sessions and (raw := _of_a_form(paths)):
        raise raw
    return sessions


def _of_a_form(paths: Sequence[Path]) -> InputFault | None:
    from paste_proxy.importers.detection import first_form

    for path in paths:
        form = first_form(path)
        if form is not None and form.name != "neutral":
            command = f"paste-proxy import {form.name} {path} -o events.jsonl"
            return InputFault(str(path), f"a log of the form {form.name}", f"the event lines that `{command}` writes")
    return None
