"""`paste-proxy mine`: recorded sessions become a pattern pool."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.traces import read_traces
from paste_proxy.cli.whole_file import refuse_input, whole_file
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.mining.held_out import HeldOut
    from paste_proxy.mining.pattern import Pattern
    from paste_proxy.mining.pool import Origin, Pool
    from paste_proxy.mining.templates import AnyTemplate
    from paste_proxy.speculation.policy import Policy


_NOTHING = (
    "A pattern has to hold in several tasks of one half to be tried on the other: bring more sessions, some tens "
    "of tasks of one kind of work."
)


def mine(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACES", help="Recorded sessions: files or folders.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="POOL.json", help="The pool to write.")],
    exclude: Annotated[
        list[Path] | None, typer.Option(metavar="TRACES", help="Leave out every session of a task found in these.")
    ] = None,
    patterns: Annotated[
        list[Path] | None, typer.Option(metavar="FILE.toml", help="Patterns written by people, to be validated too.")
    ] = None,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Policy (or builtin:NAME): what counts as the same call.")
    ] = None,
) -> None:
    """Mine patterns from recorded sessions and validate them.

    Validated on tasks that were held out while mining.
    """
    from paste_proxy.events.cored import cored
    from paste_proxy.importers.formats import FORMATS, files_of
    from paste_proxy.mining.groups import without_groups_of
    from paste_proxy.mining.handwritten import read_handwritten
    from paste_proxy.mining.storage import dump_pool

    refuse_input(out, [*files_of(FORMATS["neutral"], [*traces, *(exclude or [])]), *(patterns or [])])
    written = [one for path in patterns or [] for one in read_handwritten(read_text(path), str(path)).patterns]
    core = read_policies(policy or []).core
    read = read_traces(traces)
    sessions = without_groups_of(read, read_traces(exclude)) if exclude else read
    if not sessions:
        raise InputFault(", ".join(map(str, traces)), "no session is left to mine", "traces with sessions")
    cores = [replace(session, events=tuple(cored(event, core) for event in session.events)) for session in sessions]
    pool, held_out = _mined(cores, [pattern.template for pattern in written])
    with whole_file(out) as file:
        file.write(dump_pool(pool).encode())
    if len(sessions) < len(read):
        typer.echo(f"left out {len(read) - len(sessions)} of {counted(len(read), 'session')}")
    _summary(pool, out)
    _validation(held_out, pool.origin)
    _kept(written, pool)


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        InputFault: it cannot be read.
    """
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputFault(str(path), f"cannot be read ({fault})", "a text file") from fault


def read_policies(names: list[str]) -> "Policy":
    """The policies of these files, or `builtin:` names, as one.

    Raises:
        InputFault: one cannot be read, or is malformed.
    """
    from paste_proxy.share import find
    from paste_proxy.speculation.policy import Policy, combine

    paths = [find("policies", name) for name in names]
    return combine(Policy.parse(read_text(path), str(path)) for path in paths)


def _mined(sessions: "list[RecordedSession]", written: "list[AnyTemplate]") -> "tuple[Pool, HeldOut]":
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.mining.mine import mine as mine_sessions
    from paste_proxy.mining.mine import passes

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("mining", total=passes(len(sessions)))
        found: list[HeldOut] = []
        pool = mine_sessions(
            sessions, written=written, on_session=lambda: progress.advance(task), on_held_out=found.append
        )
    return pool, found[0]


def _summary(pool: "Pool", out: Path) -> None:
    from collections import Counter

    origin = pool.origin
    sources = f"{counted(origin.sessions, 'session')} of {counted(origin.groups, 'task')}"
    typer.echo(f"{out}: {counted(len(pool.patterns), 'pattern')} from {sources}")
    for tool, count in Counter(pattern.template.tool for pattern in pool.patterns).most_common():
        typer.echo(f"  {count:4} {tool}")


def _validation(held_out: "HeldOut", origin: "Origin") -> None:
    from paste_proxy.mining.replay import HORIZON

    if not held_out.candidates:
        typer.echo(
            f"on held-out tasks: nothing was predicted, so nothing says that this pool is of use. {_NOTHING} "
            f"These were {counted(origin.sessions, 'session')} of {counted(origin.groups, 'task')}."
        )
        return
    came, expected = held_out.came / held_out.candidates, held_out.expected / held_out.candidates
    typer.echo(
        f"on held-out tasks: {counted(held_out.candidates, 'call')} predicted, {came:.0%} of them came within "
        f"{HORIZON} turns, {expected:.0%} were expected to"
    )


def _kept(written: "list[Pattern]", pool: "Pool") -> None:
    """Which of the patterns that people wrote are in the pool."""
    from paste_proxy.mining.notation import text_of

    if not written:
        return
    kept = {text_of(pattern.template) for pattern in pool.patterns}
    dropped = [pattern.id for pattern in written if text_of(pattern.template) not in kept]
    why = f"; dropped, since these sessions do not bear them out: {', '.join(dropped)}" if dropped else ""
    typer.echo(f"written patterns: {len(written) - len(dropped)} of {len(written)} kept{why}")
