"""`paste-proxy bench predict`: how well what is mined from some sessions predicts others."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.background import BackgroundFile, read_background, tell_learned_from
from paste_proxy.cli.evaluate import PolicyFiles, ReadOnly, Traces
from paste_proxy.cli.mine import read_policies
from paste_proxy.cli.prediction_table import prediction_table
from paste_proxy.cli.traces import read_traces
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.bench.predict import Split
    from paste_proxy.events.values import Json
    from paste_proxy.mining.background import Background
    from paste_proxy.mining.evaluate import Evaluation


def predict(
    traces: Traces,
    policy: PolicyFiles = None,
    read_only: ReadOnly = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts that the tasks are dealt into.")] = 5,
    only_fold: Annotated[int | None, typer.Option(metavar="N", help="Judge this part alone, from 0.")] = None,
    background: BackgroundFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """How well recorded sessions predict others.

    Mined on all folds but one and evaluated on that one, for each fold in turn: the figures of `evaluate` over all of
    them, and what mining took. Replays of one task are in one fold. A background that was learned from the same
    sessions flatters: name one that was not, or `none`.
    """
    from paste_proxy.bench.predict import splits
    from paste_proxy.config import Speculating
    from paste_proxy.events.values import dumps
    from paste_proxy.mining.evaluate import Evaluation
    from paste_proxy.speculation.read_calls import reading_commands, runnable, runnable_tools

    if only_fold is not None and not 0 <= only_fold < folds:
        raise InputFault("--only-fold", str(only_fold), f"0 to {folds - 1}")
    ruled, start = read_policies(policy or []), read_background(background)
    sessions = read_traces(traces)
    tell_learned_from(start, sessions)
    found = splits(sessions, folds, only_fold)
    if not found:
        raise InputFault(", ".join(map(str, traces)), "sessions of too few tasks", "tasks in at least two folds")
    evaluation = Evaluation(
        is_read=runnable(ruled, read_only or []),
        some_read=runnable_tools(ruled, read_only or []),
        is_reading_command=reading_commands(ruled),
        core=ruled.core,
        floor=Speculating().min_confidence,
    )
    report = _validated(found, evaluation, start)
    typer.echo(dumps(report).decode() if as_json else prediction_table(report))


def _validated(found: "list[Split]", evaluation: "Evaluation", background: "Background") -> "dict[str, Json]":
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.predict import cross_validate

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("mining and judging", total=sum(split.passes for split in found))
        return cross_validate(found, evaluation, lambda: progress.advance(task), background=background)
