"""`paste-proxy bench agents`: agents at a running engine, unpaced and paced."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.demo import AsJson

if TYPE_CHECKING:
    from paste_proxy.events.values import Json


def agents(
    upstream: Annotated[str, typer.Argument(help="The engine's address, such as http://127.0.0.1:8000/v1.")],
    kind: Annotated[str, typer.Option(help="vllm, sglang, llama.cpp, tgi, worker or other.")] = "vllm",
    workload: Annotated[str, typer.Option(help="Whose recorded sessions: service, coding, ...")] = "service",
    sessions: Annotated[int, typer.Option(min=1, help="Agents at once.")] = 32,
    rounds: Annotated[int, typer.Option(min=1, help="Of each side.")] = 2,
    turns: Annotated[int, typer.Option(min=1, help="Of each session, at most.")] = 4,
    answer_tokens: Annotated[int, typer.Option(min=4, help="Of each answer, at most.")] = 48,
    text_tokens: Annotated[int, typer.Option(min=4, help="Of each message, at most.")] = 120,
    speed: Annotated[float, typer.Option(min=0.01, help="How much shorter waits for tools are.")] = 1.0,
    gap_s: Annotated[float, typer.Option(min=0.0, help="Between the beginnings of two sessions.")] = 0.05,
    band: Annotated[tuple[float, float] | None, typer.Option(help="P_low and P_high; default: found.")] = None,
    as_json: AsJson = False,
) -> None:
    """Agents at a running engine, unpaced and paced.

    Recorded sessions through one sidecar, by a route without an engine and by one with, in alternating rounds.
    """
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.bench.agents.agent import Shape
    from paste_proxy.bench.agents.measure import measure
    from paste_proxy.bench.script import build_script
    from paste_proxy.events.values import dumps
    from paste_proxy.sim import workloads

    recorded = workloads.recordings(workloads.workload(workload))
    scripts = [build_script(one.id, one.events) for one in recorded]
    shape = Shape(turns=turns, answer_tokens=answer_tokens, text_tokens=text_tokens, speed=speed)
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("rounds", total=2 * rounds)
        measured = measure(
            upstream.rstrip("/"),
            kind,
            scripts,
            shape,
            sessions=sessions,
            rounds=rounds,
            gap_s=gap_s,
            band=band,
            on_round=lambda: progress.advance(bar),
        )
        report = asyncio.run(measured)
    typer.echo(_table(report))
    if as_json:
        typer.echo(dumps(report).decode())


def _table(report: dict[str, "Json"]) -> str:
    sides, ratios = report["sides"], report["ratios"]
    assert isinstance(sides, dict)
    assert isinstance(ratios, dict)
    plain, paced = sides["plain"], sides["paced"]
    assert isinstance(plain, dict)
    assert isinstance(paced, dict)
    lines = [f"{'':<16}{'plain':>10}{'paced':>10}{'ratio':>8}"]
    lines += [f"{key:<16}{plain[key]:>10}{paced[key]:>10}{ratios.get(key, ''):>8}" for key in plain]
    return "\n".join(lines)
