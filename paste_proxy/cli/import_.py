"""`paste-proxy import`: session logs of agents and recordings of other forms become event lines."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.whole_file import whole_file
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.importers.records import Corrupt


def import_(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="What is read, of the list above.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help="File to write, - for standard output.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Files or folders; where the agent keeps its logs, if not given."),
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave corrupt lines out instead of stopping.")] = False,
) -> None:
    """Turn session logs into event lines, secrets taken out.

    What comes out is what `mine` and `evaluate` read.

    \b
    FORMAT           what it reads, and where that is kept
    claude-code      Claude Code's transcripts: ~/.claude/projects
    codex            Codex's rollouts: ~/.codex/sessions
    gemini-cli       gemini-cli's chats: ~/.gemini/tmp
    qwen-code        qwen-code's chats: ~/.qwen/projects, ~/.qwen/tmp
    opencode         OpenCode's database, folders or exports: ~/.local/share/opencode
    openai-messages  conversations in Chat Completions messages, .json or .jsonl
    swe-agent        SWE-agent's trajectories, .traj
    tau-bench        results of tau-bench and tau2-bench
    otel             OpenTelemetry GenAI spans, OTLP as JSON or a span a line
    neutral          event lines, and the neutral form of traces/
    auto             any of these, told file by file
    """
    from paste_proxy.importers.records import Corrupt

    corrupt = Corrupt(skip=skip_bad)
    try:
        wanted = _wanted(form, paths)
        with _opened(out, wanted.files) as file, _shown(corrupt):
            written = _write(wanted.read(corrupt), corrupt, file)
    except InputFault as fault:
        raise InputFault(fault.where, fault.found, fault.expected + _rather(form, paths)) from fault
    typer.echo(_summary(written, corrupt), err=str(out) == "-")
    if not written.events:
        typer.echo(f"paste-proxy: no session was found; looked for {wanted.looked_for}{_rather(form, paths)}", err=True)
        raise typer.Exit(1)


def _rather(form: str, paths: list[Path] | None) -> str:
    """What to ask for where files are of another form."""
    from paste_proxy.importers.detection import first_form

    for path in paths or ():
        found = first_form(path)
        if found is not None and found.name != form and form != "auto":
            return f"; {path} is of the form {found.name}: `paste-proxy import {found.name}`, or `auto`"
    return ""


@dataclass(slots=True)
class _Written:
    sessions: int = 0
    events: int = 0
    again: int = 0
    """Sessions left out because one of their id had been written."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be read."""

    files: "list[Path]"
    """Every file that may be."""
    read: "Callable[[Corrupt], Iterable[RecordedSession]]"
    looked_for: str


def _wanted(form: str, paths: list[Path] | None) -> _Wanted:
    """What a form and paths mean."""
    from paste_proxy.importers.detection import files_in, read
    from paste_proxy.importers.formats import FORMATS, files_of

    if form == "auto":
        if not paths:
            raise InputFault("PATH", "missing", "files or folders to look into")
        return _Wanted(files_in(paths), partial(read, paths), f"logs of {', '.join(FORMATS)}")
    known = FORMATS.get(form)
    if known is None:
        raise InputFault("FORMAT", repr(form), f"one of {', '.join(FORMATS)}, auto")
    if not paths:
        paths = known.kept()
        if not paths:
            where = (
                f"a PATH, or logs in {' or '.join(map(str, known.homes()))}" if known.homes() else "files or folders"
            )
            raise InputFault("PATH", "missing", where)
    files = files_of(known, paths)
    return _Wanted(files, partial(known.read, files), known.looked_for)


@contextmanager
def _shown(corrupt: "Corrupt") -> Iterator[None]:
    """Show on a terminal which file is being read."""
    from rich.console import Console

    console = Console(stderr=True)
    if not sys.stderr.isatty():
        yield
        return
    with console.status("reading") as status:
        corrupt.on_file = lambda path: status.update(f"reading {path.name}")
        yield


@contextmanager
def _opened(out: Path, inputs: Iterable[Path]) -> Iterator[IO[bytes]]:
    """The file to write: complete under its name, or not touched where nothing is written; private to the user."""
    if str(out) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with whole_file(out, private=True, inputs=inputs) as file:
        yield file


def _write(sessions: "Iterable[RecordedSession]", corrupt: "Corrupt", file: IO[bytes]) -> _Written:
    """Write each session as it is read; of two with the same id only the first."""
    import secrets

    from paste_proxy.events.codec import record_of
    from paste_proxy.events.redaction import Redactor

    redactor, written, ids = Redactor(secrets.token_bytes(32)), _Written(), set[str]()
    for session in sessions:
        if session.id in ids:
            written.again += 1
            continue
        ids.add(session.id)
        written.sessions += 1
        for seq, event in enumerate(session.events):
            try:
                line = redactor.line(record_of(event, seq))
            except ValueError as fault:
                corrupt.found(f"session {session.id!r}, event {seq}", str(fault), "a payload of JSON")
                continue
            file.write(line)
            written.events += 1
    return written


def _summary(written: _Written, corrupt: "Corrupt") -> str:
    counts = (
        (written.again, "session", "found twice"),
        (corrupt.bad, "corrupt line", "left out"),
        (corrupt.torn, "file", "with a torn last line"),
    )
    beside = "".join(f", {counted(count, noun, rest)}" for count, noun, rest in counts if count)
    return f"{counted(written.sessions, 'session')}, {counted(written.events, 'event')}{beside}"
