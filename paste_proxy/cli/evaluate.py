"""`paste-proxy evaluate`: how well a pool predicts recorded sessions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.mine import read_policies
from paste_proxy.cli.mined_from import tell_mined_from
from paste_proxy.cli.prediction_table import prediction_table
from paste_proxy.cli.progress import shown
from paste_proxy.cli.traces import read_traces
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.bench.stopwatch import Stopwatch
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.mining.evaluate import Evaluation
    from paste_proxy.mining.pool import Pool

Traces = Annotated[list[Path], typer.Argument(metavar="TRACES", help="Recorded sessions: files or folders.")]
PolicyFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--policy", metavar="FILE", help="Policy (or builtin:NAME): what may be run ahead, and what is the same call."
    ),
]
ReadOnly = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Tools that may be run ahead, beside the policy's.")
]


def evaluate(
    traces: Traces,
    pool: Annotated[list[str], typer.Option(metavar="POOL", help="Pattern pool (or builtin:NAME); may come again.")],
    policy: PolicyFiles = None,
    read_only: ReadOnly = None,
    online: Annotated[
        bool, typer.Option("--online", help="Each session teaches, once it was predicted, as in a sidecar.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say how well a pool predicts recorded sessions.

    They are replayed through the online predictor, which has not seen them.

    Without --policy and --read-only every tool counts as read-only: nothing is run here. With them `read_only`, and
    all that is said of running ahead, goes by a predictor that predicts such tools alone, as the sidecar does.

    The oracle counts a call whose arguments all stood, each whole, in what its session had seen when the LLM was
    asked: in the user's words, the LLM's, a tool's answer or an earlier call, and one without arguments. It does not
    count what other sessions teach (a usual value, a text with a value set into it), so a pool can hit more.
    """
    from paste_proxy.bench.stopwatch import Stopwatch
    from paste_proxy.config import Speculating
    from paste_proxy.events.values import dumps
    from paste_proxy.mining.evaluate import Evaluation
    from paste_proxy.speculation.read_calls import reading_commands, runnable, runnable_tools

    combined, ruled = read_pools(pool), read_policies(policy or [])
    evaluation = Evaluation(
        is_read=runnable(ruled, read_only or []),
        some_read=runnable_tools(ruled, read_only or []),
        is_reading_command=reading_commands(ruled),
        core=ruled.core,
        floor=Speculating().min_confidence,
    )
    sessions = read_traces(traces)
    if not sessions:
        raise InputFault(", ".join(map(str, traces)), "no session in these files", "recorded sessions")
    watch = Stopwatch()
    if online:
        _tell_shared(sessions)
    _follow(sessions, evaluation, combined, watch, online=online)
    report = {
        **evaluation.report(),
        "sessions": len(sessions),
        "online": online,
        "mined_from": tell_mined_from(combined, sessions),
        **watch.report(),
    }
    typer.echo(dumps(report).decode() if as_json else prediction_table(report))


def read_pools(names: list[str]) -> "Pool":
    """The pools of these files, or `builtin:` names, as one.

    Raises:
        InputFault: one cannot be read, or is malformed.
    """
    from paste_proxy.mining.pool import combine
    from paste_proxy.mining.storage import parse_pool
    from paste_proxy.share import find
    from paste_proxy.text_file import read_text

    paths = [find("patterns", name) for name in names]
    return combine(parse_pool(read_text(path, "a pattern pool"), str(path)) for path in paths)


def _tell_shared(sessions: "list[RecordedSession]") -> None:
    """Where sessions of one task follow each other, the later ones are taught what they will be asked."""
    from paste_proxy.mining.groups import groups_of

    shared = len(sessions) - len(set(groups_of(sessions)))
    if shared:
        typer.echo(
            f"paste-proxy: {shared} of {counted(len(sessions), 'session')} repeat the task of an earlier one, which "
            "taught its answers: with --online the figures flatter",
            err=True,
        )


def _follow(
    sessions: "list[RecordedSession]", evaluation: "Evaluation", pool: "Pool", watch: "Stopwatch", *, online: bool
) -> None:
    from paste_proxy.mining.forecast.adaptation import Adaptation, Place
    from paste_proxy.mining.predict import Predictor

    of_all, of_ahead = (Adaptation(pool, [Place.fresh()]) if online else None for _ in range(2))
    for session in shown(sessions, "evaluating"):
        every = Predictor(pool, adaptation=of_all)
        ahead = evaluation.ahead(pool, of_ahead)
        evaluation.add(session, every.step, watch.timed(ahead.step))
        every.end()
        ahead.end()
