"""`paste-proxy speedup`: what speculation is worth for one's own times and hit rate."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.evaluate import read_pools
from paste_proxy.cli.mine import read_policies
from paste_proxy.cli.mined_from import tell_mined_from
from paste_proxy.cli.progress import shown
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.bench.speedup import Figures
    from paste_proxy.bench.steps import RecordedStep
    from paste_proxy.events.values import Json
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.mining.pool import Pool
    from paste_proxy.mining.predict import Predictor
    from paste_proxy.speculation.policy import Policy

_SECONDS = "a time in seconds"


def speedup(
    generation: Annotated[
        float | None, typer.Option("--generation", "-G", min=0, help="G: LLM request to call, s.")
    ] = None,
    guess: Annotated[
        float, typer.Option("--guess", "-g", min=0, help="g: LLM request to guess, s; patterns take none.")
    ] = 0.0,
    tool: Annotated[float | None, typer.Option("--tool", "-T", min=0, help="T: a tool call, s.")] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", "-a", min=0, max=1, help="Share of right guesses, with one sample.")
    ] = None,
    samples: Annotated[int, typer.Option("--samples", "-l", min=1, max=64, help="lambda: samples a turn.")] = 1,
    cost: Annotated[
        float, typer.Option("--cost", "-c", min=0, help="Of a sample, as a share of what a turn of the LLM costs.")
    ] = 0.0,
    fresh: Annotated[
        float,
        typer.Option(min=0, max=1, help="What each further sample knows that the others do not: 0 nothing, 1 all."),
    ] = 0.25,
    traces: Annotated[
        list[Path] | None, typer.Option(metavar="TRACES", help="Recorded sessions to take what is not given from.")
    ] = None,
    pool: Annotated[
        list[str] | None,
        typer.Option(metavar="POOL", help="alpha of this pattern pool (or builtin:NAME) on the traces."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="alpha of what this policy (or builtin:NAME) lets be run ahead; all if not given."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say how much sooner sessions end with speculation.

    Tools run while the LLM thinks. The model of the paper on speculative tool calling (Lemma 1), for the times given
    or step by step over recorded sessions. What is given goes before what was recorded.
    """
    from paste_proxy.bench.speedup import Figures, timed, worked_out
    from paste_proxy.events.values import dumps
    from paste_proxy.importers.neutral import read_sessions
    from paste_proxy.speculation.speedup import Step

    sessions = read_sessions(traces) if traces else []
    recorded = _recorded(sessions, pool or [], policy or [])
    if generation is not None and tool is not None:
        steps: tuple[Step, ...] = (Step(generation_s=generation, guess_s=guess, tool_s=tool),)
    else:
        steps = timed(recorded, guess, generation, tool)
    if not steps:
        raise _missing(generation, tool, traces)
    alphas = (alpha,) if alpha is not None else _alphas(sessions, recorded, pool, samples)
    figures = Figures(steps=steps, alphas=alphas, samples=samples, fresh=fresh, cost=cost)
    report = worked_out(figures)
    typer.echo(dumps(report).decode() if as_json else _shown(report, figures))


def _recorded(sessions: "list[RecordedSession]", pools: list[str], policies: list[str]) -> "list[RecordedStep]":
    from paste_proxy.bench.steps import steps_of
    from paste_proxy.events.cored import cored

    pool = read_pools(pools) if pools else None
    if pool is not None:
        tell_mined_from(pool, sessions)
    ruled, steps = read_policies(policies), list["RecordedStep"]()
    for session in shown(sessions, "replaying"):
        cores = replace(session, events=tuple(cored(event, ruled.core) for event in session.events))
        steps += steps_of(cores, None if pool is None else _predictor(pool, ruled).step)
    return steps


def _predictor(pool: "Pool", ruled: "Policy") -> "Predictor":
    """One that predicts what the policy lets be run ahead, as a sidecar's does; everything if it says nothing."""
    from paste_proxy.mining.predict import Predictor
    from paste_proxy.mining.prediction import Barred

    if not ruled.rules:
        return Predictor(pool)
    barred = Barred(call=lambda call: not ruled.rule_for(call).allowed)
    return Predictor(pool, executable=lambda tool: ruled.of_tool(tool).allowed, barred=barred)


def _alphas(
    sessions: "list[RecordedSession]", recorded: "list[RecordedStep]", pool: list[str] | None, samples: int
) -> tuple[float, ...]:
    from paste_proxy.bench.speedup import SAMPLES, hit_rates
    from paste_proxy.bench.steps import served

    if pool and recorded:
        return hit_rates(recorded, max(samples, *SAMPLES))
    share = served(sessions)
    if share is None:
        expected = (
            "--alpha, or --pool with --traces, or --traces that a sidecar recorded while it speculated or observed"
        )
        raise InputFault("--alpha", "nothing", expected)
    return (share,)


def _missing(generation: float | None, tool: float | None, traces: list[Path] | None) -> InputFault:
    missing = " and ".join(name for name, value in (("--generation", generation), ("--tool", tool)) if value is None)
    if traces:
        found = f"nothing, and no turn of {', '.join(map(str, traces))} has its time recorded"
        return InputFault(missing, found, _SECONDS)
    return InputFault(missing, "nothing", f"{_SECONDS}, or --traces with recorded sessions")


def _shown(report: "Mapping[str, Json]", figures: "Figures") -> str:
    from paste_proxy.bench.speedup import MEANING

    mean = figures.mean
    lines = [
        f"G {mean.generation_s:.2f} s to a call, g {mean.guess_s:.2f} s to a guess, T {mean.tool_s:.2f} s to a result"
        + (f" (means of {len(figures.steps)} steps)" if len(figures.steps) > 1 else ""),
        f"{report['alpha']:.0%} of guesses right with {figures.samples} a turn",
        "",
        f"speed-up {report['speedup']:.3f}x: {report['time_saved']:.1%} of the time saved, "
        f"{report['speedup_most']:.3f}x if every guess were right",
        "",
        "regimes",
        *(f"{'->' if regime.value == report['regime'] else '  '} {meaning}" for regime, meaning in MEANING.items()),
        "",
        "samples  alpha  speed-up  cost",
    ]
    rows = report["by_samples"]
    for row in rows if isinstance(rows, list) else []:
        assert isinstance(row, dict)
        lines.append(f"{row['samples']:7}  {row['alpha']:5.2f}  {row['speedup']:7.3f}x  +{row['cost_increase']:.0%}")
    return "\n".join(lines)
