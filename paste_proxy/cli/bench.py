"""`paste-proxy bench`: measurements, two sides in one run."""

import typer

from paste_proxy.cli.demo import AsJson, Sessions, Speed, Which, replayed
from paste_proxy.cli.predict import predict

bench = typer.Typer(help="Measurements, two sides in one run.", no_args_is_help=True)
bench.command()(predict)


@bench.command()
def replay(workload: Which = "all", sessions: Sessions = None, speed: Speed = None, as_json: AsJson = False) -> None:
    """Recorded sessions without and with speculation."""
    replayed(workload, sessions=sessions, speed=speed, as_json=as_json, pictures=False)


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
