"""Which recorded sessions a replay plays, and in which world each of them lives."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path

from paste_proxy.bench.script import Script, build_script
from paste_proxy.errors import InputFault
from paste_proxy.importers.neutral import read_sessions
from paste_proxy.share import share


class Workload(StrEnum):
    """Kinds of agent in the packaged traces."""

    AIRLINE = "airline"
    RESEARCH = "research"
    CODING = "coding"


_FILES = {
    Workload.AIRLINE: ("tau_airline",),
    Workload.RESEARCH: ("webdancer", "deerflow"),
    Workload.CODING: ("context_evaluator", "entire_cli"),
}


@dataclass(frozen=True, slots=True)
class Task:
    """A session to play."""

    workload: Workload
    script: Script

    @property
    def world(self) -> str:
        """Name of the world its tools run in: each airline task has a database of its own."""
        return self.script.session if self.workload is Workload.AIRLINE else self.workload

    @property
    def tools(self) -> list[str]:
        """Names of the tools it calls."""
        return sorted({call.invocation.tool for call in self.script.calls})


def packaged_tasks(workloads: Iterable[Workload], sessions: int | None = None) -> list[Task]:
    """The packaged sessions of some workloads, in the order of their files.

    Args:
        workloads: which kinds.
        sessions: at most this many, taken in turn from each kind; None for all.

    Raises:
        InputFault: the package carries no traces.
    """
    piles = [[Task(workload, script) for script in _scripts(workload)] for workload in workloads]
    dealt = chain.from_iterable(zip(*(_padded(pile, max(map(len, piles))) for pile in piles), strict=True))
    tasks = [task for task in dealt if task is not None][:sessions]
    if not tasks:
        raise InputFault(str(share("traces")), "no sessions", "the packaged traces")
    order = list(chain.from_iterable(piles))
    return sorted(tasks, key=order.index)


def _padded(pile: list[Task], length: int) -> list[Task | None]:
    return [*pile, *[None] * (length - len(pile))]


def _scripts(workload: Workload) -> list[Script]:
    paths = [Path(share("traces")) / f"{stem}.jsonl.gz" for stem in _FILES[workload]]
    return [build_script(session.id, session.events) for session in read_sessions(paths)]


def chosen(name: str) -> tuple[Workload, ...]:
    """The workloads a name on the command line means.

    Raises:
        InputFault: no such workload.
    """
    if name == "all":
        return tuple(Workload)
    try:
        return (Workload(name),)
    except ValueError:
        raise InputFault("--workload", repr(name), f"all, {', '.join(Workload)}") from None
