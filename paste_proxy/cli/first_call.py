"""`paste-proxy bench first-call`: what it is worth to get ready."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.demo import AsJson

if TYPE_CHECKING:
    from paste_proxy.events.values import Json


def first_call(
    rounds: Annotated[int, typer.Option(min=1, help="First calls of each side, in turns.")] = 10,
    as_json: AsJson = False,
) -> None:
    """How long first calls take, unprepared and prepared.

    To an HTTP tool behind TLS, near and far, and to an MCP server that has to be started: medians in milliseconds,
    where there was time to get ready before the call.
    """
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.first_call.measure import AWAY_MS, measure
    from paste_proxy.events.values import dumps

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("first calls", total=rounds * (len(AWAY_MS) + 1))
        report = measure(rounds, lambda case: progress.update(bar, advance=1, description=case))
    typer.echo(_table(report))
    if as_json:
        typer.echo(dumps(report).decode())


def _table(report: dict[str, "Json"]) -> str:
    lines = [f"{'milliseconds':<22}{'unprepared':>12}{'prepared':>12}{'left':>8}"]
    cases = report["cases"]
    assert isinstance(cases, list)
    for row in cases:
        assert isinstance(row, dict)
        lines.append(f"{row['case']:<22}{row['unprepared_ms']:>12}{row['prepared_ms']:>12}{row['left']:>8}")
    return "\n".join(lines)
