"""How long the tools of an interference measurement take, and how much they say: as recorded."""

from dataclasses import dataclass
from functools import cache

from paste_proxy.bench.workload import Workload, packaged_tasks

_SHORTEST_S, _LONGEST_S = 0.02, 0.48
"""A shorter call is a local read, which is measured by itself; a longer one hides what a sidecar does to it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One recorded call."""

    ms: float
    size: int
    """Of its answer, in bytes."""


@cache
def recorded() -> tuple[Taken, ...]:
    """The packaged sessions' calls of middling length, shortest first."""
    calls = (call for task in packaged_tasks(Workload) for call in task.script.calls if call.recorded)
    lasting = (call for call in calls if _SHORTEST_S <= call.latency_s <= _LONGEST_S)
    taken = (Taken(round(call.latency_s * 1e3, 1), len(call.result.body)) for call in lasting)
    return tuple(sorted(taken, key=lambda one: (one.ms, one.size)))
