"""`paste-proxy evaluate`: how well a pool predicts recorded sessions."""

import sys
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.mine import read_policies, read_text
from paste_proxy.cli.traces import read_traces
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.events.types import Event
    from paste_proxy.events.values import Json
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.mining.evaluate import Evaluation
    from paste_proxy.mining.pool import Pool
    from paste_proxy.mining.prediction import Prediction
    from paste_proxy.speculation.policy import Policy

    Predict = Callable[[Event], Prediction]

_MEANING = {
    "calls": "tool calls judged",
    "top1": "share that was the first candidate just before the LLM turn that asked",
    "top3": "share that was among the first three",
    "speculated": "runs ahead, if every read of confidence 0.15 or more had been run",
    "hits": "calls that such a run would have answered",
    "hit_rate": "hits / calls",
    "read_only": "the same of tools that only read",
    "strict": "the same if only canonically equal arguments count, not what the policy calls the same",
    "first_time": "the same of calls that the session had not made before",
    "oracle": "share whose arguments all stood in what the session had seen; what is learnt elsewhere comes on top",
    "seconds_weighted": "share of recorded tool seconds that hits would have hidden; - if none are recorded",
    "wasted_per_hit": "runs for nothing for each hit; - without hits",
    "ece": "mean distance of confidence from outcome (expected calibration error)",
    "sessions": "recorded sessions replayed",
    "mined_from": "those of them that the pool was mined from, and that flatter it; - if it does not say",
    "predict_us_p50": "microseconds for one prediction, median",
    "predict_us_p99": "and the 99th percentile",
}
"""What each figure is, in a line."""


def evaluate(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACES", help="Recorded sessions: files or folders.")],
    pool: Annotated[list[str], typer.Option(metavar="POOL", help="Pattern pool (or builtin:NAME); may come again.")],
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Policy (or builtin:NAME): what counts as read-only, and as the same call."),
    ] = None,
    read_only: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Tools that count as read-only, beside the policy's.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say how well a pool predicts recorded sessions.

    They are replayed through the online predictor, which has not seen them.

    Without --policy and --read-only every tool counts as read-only: nothing is run here.
    """
    from paste_proxy.events.values import dumps
    from paste_proxy.mining.evaluate import Evaluation

    combined, ruled = _pools(pool), read_policies(policy or [])
    evaluation = Evaluation(is_read=_is_read(ruled, read_only or []), core=ruled.core)
    sessions = read_traces(traces)
    if not sessions:
        raise InputFault(", ".join(map(str, traces)), "no session in these files", "recorded sessions")
    micros = _follow(sessions, evaluation, combined)
    report = {
        **evaluation.report(),
        "sessions": len(sessions),
        "mined_from": _mined_from(combined, sessions),
        "predict_us_p50": _percentile(micros, 0.50),
        "predict_us_p99": _percentile(micros, 0.99),
    }
    typer.echo(dumps(report).decode() if as_json else _table(report))


def _timed(predict: "Predict", micros: list[float]) -> "Predict":
    """The same, noting the microseconds that each step took."""

    def step(event: "Event") -> "Prediction":
        begin = perf_counter_ns()
        prediction = predict(event)
        micros.append((perf_counter_ns() - begin) / 1_000)
        return prediction

    return step


def _mined_from(pool: "Pool", sessions: "list[RecordedSession]") -> int | None:
    """How many of the sessions the pool was mined from, told on stderr; None where it does not say."""
    from paste_proxy.mining.provenance import known

    if not pool.origin.ids:
        return None
    seen = known((session.id for session in sessions), pool.origin.ids)
    if seen:
        these = f"{seen} of {counted(len(sessions), 'session')}" if seen < len(sessions) else "all of these sessions"
        typer.echo(f"paste-proxy: the pool was mined from {these}: the figures flatter it; evaluate others", err=True)
    return seen


def _pools(names: list[str]) -> "Pool":
    from paste_proxy.mining.pool import combine
    from paste_proxy.mining.storage import parse_pool
    from paste_proxy.share import find

    paths = [find("patterns", name) for name in names]
    return combine(parse_pool(read_text(path), str(path)) for path in paths)


def _is_read(policy: "Policy", globs: list[str]) -> Callable[[str], bool]:
    if not policy.rules and not globs:
        return lambda tool: True
    return lambda tool: policy.rule_for(tool).allowed or any(fnmatchcase(tool, glob) for glob in globs)


def _follow(sessions: "list[RecordedSession]", evaluation: "Evaluation", pool: "Pool") -> list[float]:
    from rich.console import Console
    from rich.progress import track

    from paste_proxy.mining.predict import Predictor

    micros: list[float] = []
    shown = track(
        sessions,
        description="evaluating",
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    for session in shown:
        evaluation.add(session, _timed(Predictor(pool).step, micros))
    return sorted(micros)


def _percentile(ascending: list[float], share: float) -> float:
    return round(ascending[min(int(len(ascending) * share), len(ascending) - 1)], 1) if ascending else 0.0


def _table(report: Mapping[str, "Json"]) -> str:
    by_tool = report["by_tool"]
    lines = [f"{key:>16}  {_shown(value):<38}  {_MEANING[key]}" for key, value in report.items() if key != "by_tool"]
    tools = by_tool.items() if isinstance(by_tool, dict) else ()
    return "\n".join([*lines, "", *(f"{tool:>40}  {_shown(rate)}" for tool, rate in tools)])


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{key} {item}" for key, item in value.items())
    return "-" if value is None else str(value)
