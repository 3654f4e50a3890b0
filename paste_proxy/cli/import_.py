"""`paste-proxy import`: recorded sessions of another form become event lines."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import Reading

_FORMATS = ("neutral",)


def import_(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help=f"What is read: {', '.join(_FORMATS)}.")],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files (.jsonl, .jsonl.gz) or folders.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help="File to write, - for standard output.")],
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave corrupt lines out instead of stopping.")] = False,
) -> None:
    """Turn recorded sessions into event lines, secrets taken out."""
    if form not in _FORMATS:
        raise InputFault("FORMAT", repr(form), f"one of {', '.join(_FORMATS)}")
    reading = _read(paths, skip_bad=skip_bad)
    with _opened(out) as file:
        events = _write(reading, file)
    left_out = f", {reading.bad} corrupt lines left out" if reading.bad else ""
    torn = f", {reading.torn} files with a torn last line" if reading.torn else ""
    typer.echo(f"{len(reading.sessions)} sessions, {events} events{left_out}{torn}", err=str(out) == "-")
    if not events:
        typer.echo("paste-proxy: no event was found in these files", err=True)
        raise typer.Exit(1)


def _read(paths: list[Path], *, skip_bad: bool) -> "Reading":
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.importers.files import trace_files
    from paste_proxy.importers.neutral import read

    files = trace_files(paths)
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("reading", total=len(files))

        def show(path: Path) -> None:
            progress.update(task, advance=1, description=f"reading {path.name}")

        return read(files, skip_bad=skip_bad, on_file=show)


@contextmanager
def _opened(out: Path) -> Iterator[BinaryIO]:
    """The file to write: complete under its name or not there at all, private to the user."""
    if str(out) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = out.with_name(f"{out.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
        part.replace(out)
    except OSError as fault:
        raise InputFault(f"-o {out}", f"cannot be written ({fault})", "a path in a folder that exists") from fault
    finally:
        part.unlink(missing_ok=True)


def _write(reading: "Reading", file: BinaryIO) -> int:
    import secrets

    from paste_proxy.events.codec import record_of
    from paste_proxy.events.redaction import Redactor

    redactor, events = Redactor(secrets.token_bytes(32)), 0
    for session in reading.sessions:
        for seq, event in enumerate(session.events):
            try:
                line = redactor.line(record_of(event, seq))
            except ValueError as fault:
                raise InputFault(f"session {session.id!r}, event {seq}", str(fault), "a payload of JSON") from fault
            file.write(line)
            events += 1
    return events
