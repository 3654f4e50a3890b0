"""`paste-proxy bench staging`: what it costs to run a command ahead and commit it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from paste_proxy.events.values import Json

_ROWS = {
    "set_up": "view made and read",
    "proof": "workspace proven unchanged",
    "commit": "effects put in place",
    "sum": "the sum of these",
    "command": "the command in its view",
    "normal": "the command as usual",
    "added": "added to the answer in all",
    "clean_up": "cleared away afterwards",
}


def staging(
    files: Annotated[int, typer.Option(min=100, help="Files of the workspace.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each command.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What it costs to run a command ahead.

    A workspace of many files is made. A command that does nothing and one that edits a few files are run in a view and
    really committed, and run as usual, in turns: milliseconds of each part.
    """
    import uvloop
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.staging_cost import measure
    from paste_proxy.events.values import dumps

    aside = Console(stderr=True)
    with _nothing_told(), Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress:
        task = progress.add_task("staging", total=rounds)
        report = uvloop.run(measure(files, rounds, on_round=lambda: progress.advance(task)))
    typer.echo(dumps(report).decode() if as_json else _table(report))


@contextmanager
def _nothing_told() -> Iterator[None]:
    """Of what is in order."""
    import structlog

    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("warning"))
    try:
        yield
    finally:
        structlog.configure(**before)


def _table(report: Mapping[str, "Json"]) -> str:
    lines = [f"{report['files']} files, {report['rounds']} rounds, as {report['tier']}; milliseconds"]
    cases = report["cases"]
    for name, case in cases.items() if isinstance(cases, dict) else ():
        lines += ["", f"{name:>28}{'p50':>10}{'p95':>10}"]
        for key, words in _ROWS.items():
            figures = case[f"{key}_ms"] if isinstance(case, dict) else None
            if isinstance(figures, dict):
                lines.append(f"{words:>28}{figures['p50']!s:>10}{figures['p95']!s:>10}")
    lines += ["", f"closed in {report['close_ms']} ms after a command that had made as many files"]
    return "\n".join(lines)
