"""The coding part of `paste-proxy bench`: recorded sessions lived in a small project of real modules and tests."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.bench.coding.report import Comparison
    from paste_proxy.bench.script import Script

Recordings = Annotated[list[Path], typer.Argument(metavar="TRACES", help="Recorded coding sessions: files or folders.")]


def coding_replayed(
    traces: list[Path] | None,
    *,
    sessions: int | None,
    steps: int | None,
    speed: float | None,
    pool: Path | None,
    as_json: bool,
) -> None:
    """Replay, show, and exit with 1 if what the agents saw differs."""
    import asyncio
    import tempfile

    import orjson
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.coding.compare import SPEED, compare, picked
    from paste_proxy.bench.coding.playing import POOL
    from paste_proxy.cli.serve import log_to_stderr

    log_to_stderr("warning")
    scripts = picked(_scripts(traces or _packaged()), sessions)
    aside = Console(stderr=True)
    with (
        tempfile.TemporaryDirectory(prefix="paste-coding-") as folder,
        Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress,
    ):
        bar = progress.add_task(f"{counted(len(scripts), 'session')}, twice", total=2 * len(scripts))
        comparison = asyncio.run(
            compare(
                scripts,
                Path(folder) / "project",
                speed=speed or SPEED,
                steps=steps,
                pool=pool or POOL,
                on_task=lambda _: progress.advance(bar),
            )
        )
    _show(comparison)
    if as_json:
        typer.echo(orjson.dumps(comparison.to_json()).decode())
    if not comparison.views_equal:
        raise typer.Exit(1)


def live(
    traces: Recordings,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.jsonl", help="The event lines to write.")],
    exclude: Annotated[
        list[Path] | None, typer.Option(metavar="TRACES", help="Leave out every session of a task found in these.")
    ] = None,
) -> None:
    """Live coding sessions in the replay's project, for `mine`.

    Sessions of the packaged traces' tasks are left out in any case.
    """
    import asyncio
    import tempfile

    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.coding.lived import live as live_all
    from paste_proxy.bench.script import build_script
    from paste_proxy.cli.traces import read_traces
    from paste_proxy.cli.whole_file import whole_file
    from paste_proxy.events.codec import encode
    from paste_proxy.mining.groups import groups_of

    found, played = read_traces(traces), read_traces([*_packaged(), *(exclude or [])])
    groups = groups_of([*found, *played])
    taken = set(groups[len(found) :])
    left = [session for session, group in zip(found, groups[: len(found)], strict=True) if group not in taken]
    aside = Console(stderr=True)
    with (
        whole_file(out) as file,
        tempfile.TemporaryDirectory(prefix="paste-coding-") as folder,
        Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress,
    ):
        bar = progress.add_task("living", total=len(left))
        scripts = (build_script(session.id, session.events) for session in left)
        for lived in asyncio.run(live_all(scripts, Path(folder), lambda: progress.advance(bar))):
            for seq, event in enumerate(lived.events):
                file.write(encode(event, seq))
    typer.echo(f"{counted(len(left), 'session')} of {len(found)}: {out}")


def _packaged() -> list[Path]:
    from paste_proxy.share import share

    return [share("traces") / f"{stem}.jsonl.gz" for stem in ("context_evaluator", "entire_cli")]


def _scripts(traces: list[Path]) -> "list[Script]":
    from paste_proxy.bench.script import build_script
    from paste_proxy.cli.traces import read_traces

    scripts = [build_script(session.id, session.events) for session in read_traces(traces)]
    if not scripts:
        raise InputFault(", ".join(map(str, traces)), "no sessions", "recorded coding sessions")
    return scripts


def _show(comparison: "Comparison") -> None:
    from rich.console import Console
    from rich.table import Table

    before, after, told = comparison.baseline, comparison.speculative, comparison.to_json()
    table = Table(box=None, pad_edge=False)
    for column in ("", "without", "with", "cut"):
        table.add_column(column, justify="right" if column else "left")
    for name, one, other in (
        ("time of all sessions", before.task_s, after.task_s),
        ("exposed tool time", before.exposed_s, after.exposed_s),
    ):
        table.add_row(name, f"{one:.1f} s", f"{other:.1f} s", f"{1 - other / one:.1%}" if one else "-")
    table.add_row(
        "calls answered from a run ahead", "", f"{told['hits']} of {told['calls']}", f"{told['hit_rate']:.1%}"
    )
    table.add_row("tool time run for nothing", "", f"{told['wasted_s']:.1f} s", "")
    table.add_row("what the agents saw", "", "equal" if comparison.views_equal else "DIFFERENT", "")
    Console().print(table)
