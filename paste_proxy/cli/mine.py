"""`paste-proxy mine`: recorded sessions become a pattern pool."""

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.background import BackgroundFile, learn, read_background
from paste_proxy.cli.counted import counted
from paste_proxy.cli.traces import outline_traces, read_traces
from paste_proxy.cli.whole_file import refuse_input, whole_file
from paste_proxy.errors import InputFault
from paste_proxy.events.cored import Core, cored
from paste_proxy.mining.sample import CALLS

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.importers.outlines import Outline
    from paste_proxy.mining.background import Background
    from paste_proxy.mining.engine import Engine
    from paste_proxy.mining.held_out import HeldOut
    from paste_proxy.mining.pattern import Pattern
    from paste_proxy.mining.pool import Pool
    from paste_proxy.speculation.policy import Policy


_TEXT = "a text file"


class EngineName(StrEnum):
    """Where mining runs."""

    LOCAL = "local"
    RAY = "ray"


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
    calls: Annotated[
        int, typer.Option(min=1, help="Learn from a sample of whole tasks that holds at most so many tool calls.")
    ] = CALLS,
    engine: Annotated[
        EngineName, typer.Option(help="Where it runs: on this machine, or on the Ray cluster that RAY_ADDRESS names.")
    ] = EngineName.LOCAL,
    processes: Annotated[int, typer.Option(min=1, help="Processes of this machine, with --engine local.")] = 1,
    any_tool: Annotated[
        bool, typer.Option("--any-tool", help="Learn only what holds for any tool: repeats, lists, habits.")
    ] = False,
    background: BackgroundFile = None,
    as_background: Annotated[
        bool,
        typer.Option(
            "--as-background",
            help="Learn only what holds anywhere, for later mining to start from; each of TRACES is a set.",
        ),
    ] = False,
) -> None:
    """Mine patterns from recorded sessions and validate them.

    Validated on tasks that were held out while mining. The pool is the same, whatever runs it.
    """
    from paste_proxy.cli.mined import tell
    from paste_proxy.importers.formats import FORMATS, files_of
    from paste_proxy.mining.general import mine_general
    from paste_proxy.mining.storage import dump_pool
    from paste_proxy.mining.trial import tried

    if any_tool and patterns:
        raise InputFault("--any-tool", "given with --patterns", "either of them: a pattern names its tool")
    if as_background and (any_tool or patterns or background):
        raise InputFault("--as-background", "given with --any-tool, --patterns or --background", "none of them")
    refuse_input(out, [*files_of(FORMATS["neutral"], [*traces, *(exclude or [])]), *(patterns or [])])
    written = [one for path in patterns or [] for one in _read_written(path)]
    core, runs_on = read_policies(policy or []).core, _engine(engine, processes)
    if as_background:
        with whole_file(out) as file:
            share = max(1, calls // len(traces))
            kept = [
                _cores(_learned_from([one], _without(outline_traces([one]), exclude or []), share), core)
                for one in traces
            ]
            file.write(learn(kept, out).encode())
        return
    start = read_background(background)
    found = outline_traces(traces)
    left = _without(found, exclude or [])
    sessions = _learned_from(traces, left, calls)
    cores = _cores(sessions, core)
    with whole_file(out) as file:  # opened before the long work, which would be lost if it could not be
        if any_tool:
            pool, held_out = mine_general(cores)
        else:
            pool, held_out = _mined(cores, written, start, runs_on)
        if len(sessions) < len(left):
            pool = replace(pool, origin=replace(pool.origin, sampled_from=len(left)))
        file.write(dump_pool(pool).encode())
    if len(left) < len(found):
        typer.echo(f"left out {len(found) - len(left)} of {counted(len(found), 'session')}")
    tell(pool, held_out, tried(written, cores), out, any_tool=any_tool)


def read_policies(names: list[str]) -> "Policy":
    """The policies of these files, or `builtin:` names, as one.

    Raises:
        InputFault: one cannot be read, or is malformed.
    """
    from paste_proxy.share import find
    from paste_proxy.speculation.policy import Policy, combine
    from paste_proxy.text_file import read_text

    return combine(Policy.parse(read_text(find("policies", name), _TEXT, name=name), name) for name in names)


def _read_written(path: Path) -> "tuple[Pattern, ...]":
    from paste_proxy.mining.handwritten import holds_secret, read_handwritten
    from paste_proxy.text_file import read_text

    written = read_handwritten(read_text(path, _TEXT), str(path)).patterns
    for one in written:
        if holds_secret(one):
            raise InputFault(f"{path}: {one.id}", "what looks like a secret", "none: a pool goes to others")
    return written


def _without(found: "list[Outline]", exclude: list[Path]) -> "list[Outline]":
    from paste_proxy.mining.groups import without_groups_of

    return without_groups_of(found, outline_traces(exclude)) if exclude else found


def _learned_from(traces: list[Path], left: "list[Outline]", calls: int) -> "list[RecordedSession]":
    """A second pass over the files: the first one held no events."""
    from paste_proxy.mining.groups import groups_of_opened
    from paste_proxy.mining.sample import Sized, sampled

    if not left:
        raise InputFault(", ".join(map(str, traces)), "no session is left to mine", "traces with sessions")
    sizes = (Sized(one.id, group, one.calls) for one, group in zip(left, groups_of_opened(left), strict=True))
    ids = sampled(sizes, calls)
    if not ids:
        raise InputFault(f"--calls {calls}", "every session has more", "a larger number")
    return read_traces(traces, among=ids)


def _engine(name: EngineName, processes: int) -> "Engine":
    if name is EngineName.RAY:
        if processes > 1:
            raise InputFault("--processes", "given with --engine ray", "either of them: Ray has processes of its own")
        from paste_proxy.cluster.on_ray import OnRay

        return OnRay()
    if processes > 1:
        from paste_proxy.cluster.processes import Processes

        return Processes(processes)
    from paste_proxy.mining.engine import Here

    return Here()


def _cores(sessions: "list[RecordedSession]", core: Core) -> "list[RecordedSession]":
    return [replace(session, events=tuple(cored(event, core) for event in session.events)) for session in sessions]


def _mined(
    sessions: "list[RecordedSession]", written: "list[Pattern]", background: "Background", engine: "Engine"
) -> "tuple[Pool, HeldOut]":
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.mining.mine import mine as mine_sessions
    from paste_proxy.mining.mine import passes

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("mining", total=passes(sessions))
        found: list[HeldOut] = []
        pool = mine_sessions(
            sessions,
            written=written,
            background=background,
            engine=engine,
            on_session=lambda: progress.advance(task),
            on_held_out=found.append,
        )
    return pool, found[0]
