"""The jobs of mining in several processes of this machine.

No process outlives the mining: each holds the end of a pipe, its lifeline, and ends when this process closes the
other one, be it because a job failed, because a person gave up, or because this process was killed.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from threading import Thread
from typing import TYPE_CHECKING

from paste_proxy.errors import OurFault
from paste_proxy.mining.engine import Job, Result

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class Processes:
    """An engine of so many processes, begun for each `map`."""

    def __init__(self, number: int) -> None:
        self._number = number

    def map(self, function: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[Result]:
        """As `Engine.map`.

        Raises:
            OurFault: a process died without a result.
        """
        from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
        from multiprocessing import get_context

        spawn = get_context("spawn")
        lifeline, held = spawn.Pipe(duplex=False)
        executor = ProcessPoolExecutor(self._number, spawn, _begin, (lifeline,))
        try:
            yield from executor.map(function, jobs)
        except BrokenProcessPool as fault:
            raise OurFault(
                "a process of the mining ended without a result; if memory ran out, let fewer --processes learn from "
                "fewer --calls"
            ) from fault
        finally:
            held.close()
            executor.shutdown(cancel_futures=True)
            lifeline.close()


def _begin(lifeline: "Connection") -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all of them; the one that began them decides
    Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: "Connection") -> None:
    lifeline.poll(None)
    os._exit(1)
