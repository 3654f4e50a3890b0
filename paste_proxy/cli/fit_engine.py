"""`paste-proxy bench engine`: a running engine measured, as a file for `simulate --engine`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from paste_proxy.errors import InputFault


def fit_engine(
    url: Annotated[str, typer.Argument(metavar="URL", help="Of its API, such as http://127.0.0.1:8000/v1.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the engine's parameters go.")],
    model: Annotated[str, typer.Option("--model", "-m", help="Which of its models.")] = "default",
    loads: Annotated[
        str, typer.Option(metavar="N,M,...", help="Streams at once, one round after another.")
    ] = "1,2,4,8,16,32,64",
    tokens: Annotated[int, typer.Option(min=16, help="Of each answer.")] = 128,
    key: Annotated[str, typer.Option(envvar="OPENAI_API_KEY", help="If the engine wants one.")] = "none",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Measure an engine for the simulator.

    Streams are opened, more and more at once, with short prompts and long ones; the weights of the engine model are
    fitted to the times of their tokens.
    """
    from openai import AsyncOpenAI
    from rich.console import Console
    from rich.progress import Progress

    from paste_proxy.events.values import dumps
    from paste_proxy.sim.fitting import fit
    from paste_proxy.sim.probing import Probed, probe

    if not loads.replace(",", "").isdecimal() or "0" in loads.split(",") or "" in loads.split(","):
        raise InputFault("--loads", repr(loads), "numbers of streams such as 1,2,4,8")
    rounds = sorted({int(part) for part in loads.split(",")})
    aside = Console(stderr=True)

    async def measured() -> Probed:
        async with AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=600.0) as client:
            with Progress(console=aside, transient=True, disable=not aside.is_terminal) as progress:
                bar = progress.add_task("measuring", total=len(rounds))
                return await probe(
                    client,
                    model,
                    loads=rounds,
                    answer_tokens=tokens,
                    on_round=lambda streams: progress.update(bar, advance=1, description=f"{streams} at once"),
                )

    probed = asyncio.run(measured())
    if not probed.decoded:
        raise InputFault(url, "answers too short to be timed", "longer ones: --tokens")
    fitted = fit(probed.decoded, probed.prefilled, name=out.stem, max_batch=probed.max_batch)
    out.write_bytes(dumps(fitted.model.report()) + b"\n")
    typer.echo(f"{'streams':>7}  {'context':>9}  {'a token, ms':>11}  {'fitted, ms':>10}")
    for one in probed.decoded:
        modelled = fitted.model.step_seconds(one.streams, one.context)
        typer.echo(f"{one.streams:>7}  {one.context:>9.0f}  {one.token_s * 1e3:>11.2f}  {modelled * 1e3:>10.2f}")
    typer.echo(
        f"fits to {fitted.typical:.1%}, {fitted.worst:.1%} at worst; R squared {fitted.explained:.3f}; "
        f"{_fastest(fitted.model.knee, probed.decoded[-1].streams)}"
    )
    typer.echo(f"{out}: for `simulate --engine`; kv_tokens does not show from outside and is as usual")
    if as_json:
        report = {"engine": fitted.model.report(), "worst": round(fitted.worst, 4)}
        typer.echo(dumps({**report, "typical": round(fitted.typical, 4), "r2": round(fitted.explained, 4)}).decode())


def _fastest(turns: float, measured: int) -> str:
    """Where it gives most; what was not measured is not known."""
    return (
        f"fastest at {turns:.0f} turns" if turns < measured else f"gets faster up to the {measured} that were measured"
    )
