"""The whole demo: the tasks of a workload without and with speculation, one side after the other."""

from collections.abc import Callable, Sequence
from math import ceil

from paste_proxy.bench.agent import Played
from paste_proxy.bench.replay import play_side
from paste_proxy.bench.report import Comparison
from paste_proxy.bench.workload import Task
from paste_proxy.speculation.types import Mode

_SIDE_WALL_S = 30.0
"""Wall time that the longest task of a side is compressed to."""


def fitting_speed(tasks: Sequence[Task]) -> float:
    """The compression at which each side takes about half a minute; never slower than life."""
    longest = max(task.script.planned_s for task in tasks)
    return max(1.0, float(ceil(longest / _SIDE_WALL_S)))


async def compare(
    workload: str,
    tasks: Sequence[Task],
    *,
    speed: float,
    on_task: Callable[[Mode, Played], None] = lambda _mode, _task: None,
) -> Comparison:
    """Play both sides.

    Raises:
        OurFault: a sidecar did not start, or answered an agent with a fault.
    """
    baseline = await play_side(list(tasks), Mode.OFF, speed=speed, on_task=lambda task: on_task(Mode.OFF, task))
    speculative = await play_side(
        list(tasks), Mode.SPECULATE, speed=speed, on_task=lambda task: on_task(Mode.SPECULATE, task)
    )
    return Comparison(workload, tuple(tasks), speed, baseline, speculative)
