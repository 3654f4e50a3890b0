"""`paste-proxy bench predict-speed`: how long a prediction takes."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.evaluate import read_pools

if TYPE_CHECKING:
    from paste_proxy.events.values import Json


def predict_speed(
    pool: Annotated[
        list[str] | None, typer.Option(metavar="POOL", help="Pattern pool (or builtin:NAME) to add to; may come again.")
    ] = None,
    patterns: Annotated[int, typer.Option(min=1, help="Made-up patterns are added up to this number.")] = 10_000,
    events: Annotated[int, typer.Option(min=100, help="Events to measure.")] = 3_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """How long a prediction takes.

    A made-up session, its window of 64 observations full of outputs of 20,000 characters, through the online predictor
    with a large pool: microseconds an event.
    """
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.predict_speed import measure, padded
    from paste_proxy.events.values import dumps

    large, tools = padded(read_pools(pool or []), patterns)
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("predicting", total=events)
        report = measure(large, tools, events, on_event=lambda: progress.advance(task))
    typer.echo(dumps(report).decode() if as_json else _table(report))


def _table(report: Mapping[str, "Json"]) -> str:
    by_event = report["by_event"]
    rows = {"every event": report, **(by_event if isinstance(by_event, dict) else {})}
    outputs = f"outputs of {report['output_characters']} characters"
    head = f"{report['patterns']} patterns, a window of {report['window']}, {outputs}"
    lines = [f"{name:>14}{_cells(figures)}" for name, figures in rows.items() if isinstance(figures, Mapping)]
    return "\n".join([head, "", f"{'microseconds':>14}{''.join(f'{name:>10}' for name in _COLUMNS.values())}", *lines])


_COLUMNS = {
    "events": "events",
    "predict_us_p50": "p50",
    "predict_us_p99": "p99",
    "predict_us_max": "max",
    "cpu_us_p50": "cpu p50",
    "cpu_us_p99": "cpu p99",
}


def _cells(figures: Mapping[str, "Json"]) -> str:
    return "".join(f"{figures[key]!s:>10}" for key in _COLUMNS)
