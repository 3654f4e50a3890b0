"""`paste-proxy bench admission`: what it costs a turn to stand before an idle engine."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.demo import AsJson

if TYPE_CHECKING:
    from paste_proxy.events.values import Json


def admission(
    requests: Annotated[int, typer.Option(min=1, help="Of each round, route and size.")] = 100,
    as_json: AsJson = False,
) -> None:
    """What it costs a turn to stand before an idle engine.

    The same requests by a route without an engine and by one with, in alternating rounds: milliseconds.
    """
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.admission import BODY_KB, ROUNDS, measure
    from paste_proxy.events.values import dumps

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("turns", total=ROUNDS * len(BODY_KB))
        report = asyncio.run(measure(requests, lambda: progress.advance(bar)))
    typer.echo(_table(report))
    if as_json:
        typer.echo(dumps(report).decode())


def _table(report: dict[str, "Json"]) -> str:
    lines = [f"{'request kB':<12}{'plain p50':>11}{'paced p50':>11}{'added':>8}{'plain p99':>11}{'paced p99':>11}"]
    cases = report["cases"]
    assert isinstance(cases, list)
    for row in cases:
        assert isinstance(row, dict)
        lines.append(
            f"{row['body_kb']:<12}{row['plain_p50_ms']:>11}{row['paced_p50_ms']:>11}{row['added_p50_ms']:>8}"
            f"{row['plain_p99_ms']:>11}{row['paced_p99_ms']:>11}"
        )
    return "\n".join(lines)
