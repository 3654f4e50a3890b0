"""`paste-proxy bench pacing`: the paper's figures from the simulator, as pictures."""

from pathlib import Path
from typing import Annotated

import typer

from paste_proxy.errors import InputFault

_FORMS = ("svg", "png")


def pacing(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the pictures go.")],
    workload: Annotated[
        list[str] | None, typer.Option("--workload", "-w", help="Of `simulate`; the paper's three if not given.")
    ] = None,
    sessions: Annotated[int, typer.Option("--sessions", "-n", min=1, max=4096, help="The largest load.")] = 192,
    engine: Annotated[
        str, typer.Option("--engine", "-e", metavar="ENGINE", help="paper, linear, or the JSON file of one.")
    ] = "paper",
    seed: Annotated[int, typer.Option("--seed", "-s", help="Of times that nobody recorded, and of arrivals.")] = 1,
    form: Annotated[str, typer.Option(help="svg or png.")] = "svg",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Draw the paper's figures 10, 13 and 15 to 18.

    All from the simulator, beside what was published.
    """
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.cli.simulate import material_of
    from paste_proxy.events.values import dumps
    from paste_proxy.sim.engine_model import read_engine
    from paste_proxy.sim.pacing import LOADS, PUBLISHED, Paced, paced
    from paste_proxy.sim.plots import canvas, draw
    from paste_proxy.sim.scenario import Scenario
    from paste_proxy.sim.workloads import workload as of_name

    if form not in _FORMS:
        raise InputFault("--form", repr(form), " or ".join(_FORMS))
    figure_of = canvas()
    model, kinds = read_engine(engine), [of_name(name) for name in workload or ("deep-research", "coding", "science")]
    aside, found = Console(stderr=True), list[Paced]()
    with Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress:
        bar = progress.add_task("simulating", total=len(kinds) * (len(LOADS) + 1))
        for kind in kinds:
            scenario = Scenario(material_of(kind), model, sessions, seed)
            found.append(paced(kind.name, scenario, on_load=lambda: progress.advance(bar)))
    for path in draw(found, out, form, figure_of):
        typer.echo(path)
    if as_json:
        by_name = {one.name: one.report() for one in found}
        report = {"engine": model.name, "seed": seed, "workloads": by_name, "published": dict(PUBLISHED)}
        typer.echo(dumps(report).decode())
