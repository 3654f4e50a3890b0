"""The whole demo: tasks without and with speculation, one side after the other.

Each kind of agent has a sidecar and a time compression of its own, the same on both sides.
"""

from collections.abc import Callable, Mapping, Sequence
from math import ceil

from paste_proxy.bench.account import Account
from paste_proxy.bench.agent import Played
from paste_proxy.bench.replay import Side, play, together
from paste_proxy.bench.report import Comparison
from paste_proxy.bench.workload import Task, Workload
from paste_proxy.speculation.types import Mode

_SIDE_WALL_S = 40.0
"""Wall time that a side's longest task is compressed to."""


def fitting_speeds(tasks: Sequence[Task]) -> dict[Workload, float]:
    """The compression at which each side takes well under a minute; never slower than life."""
    longest: dict[Workload, float] = {}
    for task in tasks:
        longest[task.workload] = max(longest.get(task.workload, 0.0), task.script.planned_s)
    return {workload: max(1.0, ceil(10 * seconds / _SIDE_WALL_S) / 10) for workload, seconds in longest.items()}


async def compare(
    workload: str,
    tasks: Sequence[Task],
    *,
    speeds: Mapping[Workload, float],
    on_task: Callable[[Played], None] = lambda _: None,
) -> Comparison:
    """Play both sides.

    Args:
        workload: its name in the report.
        tasks: which.
        speeds: compression of each kind of agent among them.
        on_task: told of each task's end, on both sides.

    Raises:
        OurFault: a sidecar did not start, or answered an agent with a fault.
    """
    groups = [[task for task in tasks if task.workload is kind] for kind in speeds]

    async def side(mode: Mode) -> Side:
        plays = (play(group, mode, speed=speeds[group[0].workload], on_task=on_task) for group in groups if group)
        return _merged(mode, await together(plays))

    ordered = tuple(task for group in groups for task in group)
    baseline = await side(Mode.OFF)
    return Comparison(workload, ordered, dict(speeds), baseline, await side(Mode.SPECULATE))


def _merged(mode: Mode, sides: Sequence[Side]) -> Side:
    return Side(
        mode=mode,
        played=tuple(task for side in sides for task in side.played),
        account=Account(
            hits=tuple(hit for side in sides for hit in side.account.hits),
            wasted=tuple(run for side in sides for run in side.account.wasted),
        ),
        written={world: keys for side in sides for world, keys in side.written.items()},
    )
