"""`paste-proxy demo`: recorded sessions through a live sidecar, without and with speculation."""

from typing import Annotated

import typer

from paste_proxy.cli.counted import counted

Sessions = Annotated[int | None, typer.Option(min=1, help="At most this many sessions, taken in turn from each kind.")]
Speed = Annotated[
    float | None, typer.Option(min=0.1, help="Time compression; by default each side takes well under a minute.")
]
Which = Annotated[str, typer.Option(help="all, airline, research or coding.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object, as the last line.")]


def demo(sessions: Sessions = None, speed: Speed = None, workload: Which = "all", as_json: AsJson = False) -> None:
    """Play recorded sessions without and with speculation.

    Through a live sidecar; needs no key and no network.
    """
    replayed(workload, sessions=sessions, speed=speed, as_json=as_json, pictures=True)


def replayed(workload: str, *, sessions: int | None, speed: float | None, as_json: bool, pictures: bool) -> None:
    """Replay, show, and exit with 1 if what the agents saw differs."""
    import asyncio

    import orjson
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.demo import compare, fitting_speeds
    from paste_proxy.bench.timeline import draw, sums
    from paste_proxy.bench.workload import chosen, packaged_tasks

    tasks = packaged_tasks(chosen(workload), sessions)
    speeds = {kind: speed or fitting for kind, fitting in fitting_speeds(tasks).items()}
    console, aside = Console(), Console(stderr=True)
    with Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress:
        bar = progress.add_task(f"{counted(len(tasks), 'session')}, twice", total=2 * len(tasks))
        comparison = asyncio.run(compare(workload, tasks, speeds=speeds, on_task=lambda _: progress.advance(bar)))
    console.print(draw(comparison, console.width) if pictures else sums(comparison))
    if as_json:
        typer.echo(orjson.dumps(comparison.to_json()).decode())
    if not comparison.views_equal:
        raise typer.Exit(1)
