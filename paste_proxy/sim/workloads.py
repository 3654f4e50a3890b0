"""What is played: recorded sessions of a kind of agent, with the policies and pools that the package has for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paste_proxy.errors import InputFault
from paste_proxy.importers.neutral import RecordedSession, read_sessions
from paste_proxy.share import share
from paste_proxy.sim.spelling import AS_RECORDED, AS_WORKBENCH, Spelling


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A kind of agent."""

    name: str
    what: str
    """Whose sessions stand for it, in words."""
    stems: tuple[str, ...]
    """Packaged traces."""
    policies: tuple[str, ...]
    pools: tuple[str, ...]
    spelling: Spelling = field(default=AS_RECORDED)


WORKLOADS: Mapping[str, Workload] = {
    one.name: one
    for one in (
        Workload(
            name="deep-research",
            what="DeerFlow and WebDancer: plans, web searches, pages read, a report",
            stems=("deerflow", "webdancer"),
            policies=("builtin:research",),
            pools=("builtin:research", "builtin:search_then_fetch", "builtin:general"),
        ),
        Workload(
            name="coding",
            what="Claude Code on a Go and a TypeScript project, its tools for files and commands being our workbench's",
            stems=("context_evaluator", "entire_cli"),
            policies=("builtin:staging", "builtin:workbench", "builtin:coding"),
            pools=("builtin:coding", "builtin:general"),
            spelling=AS_WORKBENCH,
        ),
        Workload(
            name="science",
            what="WebDancer alone: a question answered by search and reading, as ScholarQA's are; no session of a "
            "science agent is packaged",
            stems=("webdancer",),
            policies=("builtin:research",),
            pools=("builtin:research", "builtin:search_then_fetch", "builtin:general"),
        ),
        Workload(
            name="service",
            what="tau-bench's airline: customer service over an API",
            stems=("tau_airline",),
            policies=("builtin:tau_airline",),
            pools=("builtin:tau_airline", "builtin:general"),
        ),
    )
}


def workload(name: str) -> Workload:
    """The workload of that name.

    Raises:
        InputFault: there is none.
    """
    if name not in WORKLOADS:
        raise InputFault("--workload", repr(name), ", ".join(WORKLOADS))
    return WORKLOADS[name]


def recordings(kind: Workload, traces: Sequence[Path] = ()) -> list[RecordedSession]:
    """The recorded sessions that stand for a workload: those of `traces`, or the packaged ones.

    Raises:
        InputFault: they cannot be read, or there are none.
    """
    paths = traces or [share("traces") / f"{stem}.jsonl.gz" for stem in kind.stems]
    found = read_sessions(paths)
    if not found:
        raise InputFault(", ".join(map(str, paths)), "no session in these files", "recorded sessions")
    return found
