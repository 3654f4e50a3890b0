"""Where mining runs: an engine takes independent jobs and gives back their results.

A job says all that its function needs to know, and a result depends on its job alone. So which engine ran a job,
how many processes it had and in what order they were done cannot be seen in the pool.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


class Engine(Protocol):
    """What runs the jobs of mining."""

    def map(self, function: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[Result]:
        """The function's result for each job, in the order of the jobs, each as soon as those before it are there.

        `function` is defined at the top of a module; jobs and results can be pickled. What the function raises is
        raised here.
        """
        ...


class Here:
    """The jobs one after the other, in this process."""

    def map(self, function: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[Result]:
        """As `Engine.map`; a job is begun when its result is asked for."""
        return map(function, jobs)
