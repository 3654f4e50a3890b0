"""`paste-proxy bench`: measurements, two sides in one run."""

from pathlib import Path
from typing import Annotated

import typer

from paste_proxy.cli.admission import admission
from paste_proxy.cli.agents import agents
from paste_proxy.cli.coding import coding_replayed, live
from paste_proxy.cli.demo import AsJson, Sessions, Speed, replayed
from paste_proxy.cli.first_call import first_call
from paste_proxy.cli.fit_engine import fit_engine
from paste_proxy.cli.interference import interference
from paste_proxy.cli.pacing import pacing
from paste_proxy.cli.predict import predict
from paste_proxy.cli.predict_speed import predict_speed
from paste_proxy.cli.side_effects import side_effects
from paste_proxy.cli.staging_cost import staging

bench = typer.Typer(help="Measurements, two sides in one run.", no_args_is_help=True)
bench.command()(predict)
bench.command()(live)
bench.command()(predict_speed)
bench.command()(first_call)
bench.command()(admission)
bench.command()(agents)
bench.command()(interference)
bench.command()(side_effects)
bench.command()(staging)
bench.command()(pacing)
bench.command("engine")(fit_engine)


@bench.command()
def replay(
    workload: Annotated[
        str, typer.Option(help="all, airline, research, coding-recorded (tools stand in, as recorded) or coding.")
    ] = "all",
    sessions: Sessions = None,
    speed: Speed = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Of coding: so many calls of each session, from its first.")
    ] = None,
    traces: Annotated[
        list[Path] | None, typer.Option(help="Of coding: recordings to play instead of the packaged ones.")
    ] = None,
    pool: Annotated[Path | None, typer.Option(help="Of coding: patterns instead of the carried ones.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recorded sessions without and with speculation.

    Coding sessions are lived in a small project: files are really read and edited, and tests really run.
    """
    if workload == "coding":
        coding_replayed(traces, sessions=sessions, steps=steps, speed=speed, pool=pool, as_json=as_json)
        return
    kind = workload.removesuffix("-recorded")
    replayed(kind, sessions=sessions, speed=speed, as_json=as_json, pictures=False)


@bench.command()
def overhead(as_json: AsJson = False) -> None:
    """What the sidecar costs.

    The same load goes straight to a scripted LLM and through the sidecar.
    """
    import orjson
    import uvloop
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.cases import CASES
    from paste_proxy.bench.overhead import ROUNDS, measure
    from paste_proxy.bench.overhead_table import table

    console, aside = Console(), Console(stderr=True)
    with Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress:
        bar = progress.add_task("overhead", total=len(CASES) * ROUNDS)
        result = uvloop.run(measure(on_round=lambda case: progress.update(bar, advance=1, description=case)))
    console.print(table(result))
    if as_json:
        typer.echo(orjson.dumps(result).decode())


@bench.command()
def mine(
    events: Annotated[int, typer.Option(min=1, help="Events of the recording that is made and mined.")] = 1_000_000,
    processes: Annotated[int, typer.Option(min=1, help="Processes that mine.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Time and memory of mining a large recording.

    The recording consists of copies of the packaged sessions, each about other things.
    """
    import orjson
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.mine import measure

    aside = Console(stderr=True)
    with Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress:
        bar = progress.add_task("writing", total=events)
        result = measure(
            events,
            processes,
            on_events=lambda number: progress.advance(bar, number),
            on_mining=lambda: progress.update(bar, description="mining", total=None),
        )
    typer.echo("\n".join(f"{key:>20}  {value}" for key, value in result.items()))
    if as_json:
        typer.echo(orjson.dumps(result).decode())
