"""`paste-proxy simulate`: ways of serving agents compared, in virtual time."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.simulated import table
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.sim.comparison import Comparison
    from paste_proxy.sim.scenario import Material
    from paste_proxy.sim.workloads import Workload

_STEPS = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""What a range of sessions is a sweep over, with its two ends."""
_MOST = 4096


def simulate(
    workload: Annotated[
        str, typer.Option("--workload", "-w", metavar="NAME", help="deep-research, coding, science or service.")
    ] = "deep-research",
    sessions: Annotated[
        str, typer.Option("--sessions", "-n", metavar="N", help="How many; N..M or N,M,... for a sweep.")
    ] = "192",
    engine: Annotated[
        str, typer.Option("--engine", "-e", metavar="ENGINE", help="paper, linear, or the JSON file of one.")
    ] = "paper",
    arrivals: Annotated[
        str, typer.Option("--arrivals", "-a", metavar="HOW", help="together, poisson or bursty.")
    ] = "together",
    seed: Annotated[int, typer.Option("--seed", "-s", help="Of times that nobody recorded, and of arrivals.")] = 1,
    traces: Annotated[
        list[Path] | None, typer.Option(metavar="TRACES", help="Recorded sessions in place of the packaged ones.")
    ] = None,
    pool: Annotated[
        list[str] | None,
        typer.Option(metavar="POOL", help="Pattern pools in place of the workload's; builtin:NAME too."),
    ] = None,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Policies in place of the workload's; builtin:NAME too.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Mine the pools here, each session's from the other parts.")
    ] = None,
    shared: Annotated[bool, typer.Option("--shared", help="All sessions behind one sidecar, not one each.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Compare ways of serving agents, in virtual time.

    Recorded sessions are played against a model of an engine: what is foreseen comes from the online predictor, with
    its misses, and is run through the scheduler of tools and the admission queue of LLM turns as they are in the
    sidecar.
    """
    from paste_proxy.events.values import dumps
    from paste_proxy.sim.arrivals import Pattern
    from paste_proxy.sim.comparison import compare
    from paste_proxy.sim.engine_model import read_engine
    from paste_proxy.sim.report import of_load, of_sweep
    from paste_proxy.sim.scenario import Scenario
    from paste_proxy.sim.systems import SYSTEMS
    from paste_proxy.sim.workloads import workload as of_name

    kind, model, loads = of_name(workload), read_engine(engine), _loads(sessions)
    if arrivals not in list(Pattern):
        raise InputFault("--arrivals", repr(arrivals), ", ".join(Pattern))
    material = material_of(kind, traces or [], pool, policy, folds)
    compared = list["Comparison"]()
    with _bar("simulating", len(loads) * len(SYSTEMS)) as advance:
        for load in loads:
            scenario = Scenario(material, model, load, seed, Pattern(arrivals), shared)
            compared.append(compare(scenario, on_system=advance))
    report = of_load(kind, compared[0]) if len(loads) == 1 else of_sweep(kind, compared)
    typer.echo(table(report))
    if as_json:
        typer.echo(dumps(report).decode())


def _loads(text: str) -> list[int]:
    """The numbers of sessions that a text means, ascending."""
    if span := re.fullmatch(r"(\d+)\.\.(\d+)", text):
        low, high = int(span[1]), int(span[2])
        loads = sorted({low, high, *(step for step in _STEPS if low < step < high)}) if low <= high else []
    else:
        loads = sorted({int(part) for part in text.split(",")}) if re.fullmatch(r"\d+(,\d+)*", text) else []
    if not loads or not 1 <= loads[0] <= loads[-1] <= _MOST:
        raise InputFault("--sessions", repr(text), f"a number from 1 to {_MOST}, or several such as 1..192 or 1,48,192")
    return loads


def material_of(
    kind: "Workload",
    traces: Sequence[Path] = (),
    pool: list[str] | None = None,
    policy: list[str] | None = None,
    folds: int | None = None,
) -> "Material":
    """What is played: see the options of `simulate`."""
    from paste_proxy.cli.evaluate import read_pools
    from paste_proxy.cli.mine import read_policies
    from paste_proxy.sim.held_out import mined_without, unknown_to
    from paste_proxy.sim.scenario import prepare
    from paste_proxy.sim.workloads import recordings

    if folds is not None and pool:
        raise InputFault("--pool", "beside --folds", "one of them: with --folds the pools are mined here")
    ruled, found = read_policies(list(policy or kind.policies)), recordings(kind, traces)
    if folds is not None:
        with _bar("mining", folds) as advance:
            mined = mined_without(found, folds, ruled, kind.spelling, advance)
        if not mined:
            raise InputFault("--folds", "sessions of too few tasks", "tasks in at least two folds")
        played, pools = [one for one, _ in mined], [one for _, one in mined]
    else:
        combined = read_pools(list(pool or kind.pools))
        played = unknown_to(combined, found)
        _tell_left_out(len(found) - len(played), len(found))
        pools = [combined] * len(played)
    with _bar("foreseeing", len(played)) as advance:
        return prepare(played, ruled, pools, kind.spelling, advance)


def _tell_left_out(known: int, of: int) -> None:
    if known == of:
        raise InputFault("--pool", "mined from all of these sessions, or their tasks", "others, or --folds 5")
    if known:
        typer.echo(f"paste-proxy: {known} of {counted(of, 'session')} left out: the pool was mined from them", err=True)


@contextmanager
def _bar(doing: str, total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda: progress.advance(task)
