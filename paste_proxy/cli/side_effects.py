"""`paste-proxy bench side-effects`: whether anything that is run ahead has an effect."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.demo import AsJson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paste_proxy.bench.side_effects.report import Report


def side_effects(
    candidates: Annotated[int, typer.Option(min=1, metavar="N", help="At least so many guesses.")] = 20_000,
    policy: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Rules before those of the measurement: what do they let through?"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Whether guesses have effects.

    Mixed traffic, and guesses that are sure of writes, sends, deletes and commands. Exits with 1 if any of them
    happened outside of a view that is thrown away.
    """
    import asyncio
    import tempfile

    import orjson
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.side_effects.measure import measure
    from paste_proxy.cli.serve import log_to_stderr

    log_to_stderr("warning")
    aside = Console(stderr=True)
    with (
        tempfile.TemporaryDirectory(prefix="paste-side-effects-", ignore_cleanup_errors=True) as root,
        Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress,
    ):
        bar = progress.add_task("candidates", total=candidates)
        report = asyncio.run(
            measure(
                candidates,
                Path(root).resolve(),
                policies=policy or (),
                on_refused=lambda so_far: progress.update(bar, completed=min(so_far, candidates)),
            )
        )
    typer.echo("\n".join(_lines(report)))
    if as_json:
        typer.echo(orjson.dumps(report.to_json()).decode())
    if report.effects:
        raise typer.Exit(1)


def _lines(report: "Report") -> "Iterator[str]":
    yield _line("candidates", report.candidates)
    yield _line("  refused", sum(report.refused.values()))
    for reason, number in report.refused.items():
        yield _line(f"    {reason}", number)
    yield _line("  run as reads", report.reads)
    yield _line("  staged", report.staged, f"of which {report.in_views} ran in a view ({report.staging})")
    if report.rehearsed:
        yield _line("  rehearsed", report.rehearsed, "of those refused, in a form that changes nothing")
    yield _line("calls of agents", report.calls, f"in {report.sessions} sessions; none asks for an effect")
    yield _line("requests ahead", report.ran_ahead, "reached tools before an agent asked, or without")
    yield _line("effects", len(report.effects))
    yield from (f"  {effect}" for effect in report.shown)


def _line(name: str, number: int, beside: str = "") -> str:
    return f"{name:<24}{number:>9}{'   ' + beside if beside else ''}"
