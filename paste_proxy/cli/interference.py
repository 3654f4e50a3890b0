"""`paste-proxy bench interference`: whether guesses delay what agents ask for."""

import sys
from typing import Annotated

import typer


def interference(
    pairs: Annotated[int, typer.Option(min=2, help="Pairs of blocks, of two seconds or so each, for each load.")] = 40,
    seed: Annotated[int, typer.Option(help="Of the calls and of the order of blocks.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Whether speculation delays what agents ask for.

    The same calls through a sidecar that is off and one that is full of wrong guesses, in alternating blocks; times are
    the agents', from a call's sending to its result. Once with tools that wait elsewhere, once with our own tools,
    which compute on this machine.
    """
    import uvloop
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.interference.measure import measure
    from paste_proxy.bench.interference.plan import LOADS
    from paste_proxy.bench.interference.table import table
    from paste_proxy.events.values import dumps

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("interference", total=2 * pairs * len(LOADS))
        result = uvloop.run(
            measure(pairs, seed=seed, on_block=lambda name: progress.update(bar, advance=1, description=name))
        )
    Console().print(table(result))
    if as_json:
        typer.echo(dumps(result).decode())
