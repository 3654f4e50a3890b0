"""Jobs run ahead in the agent's process, in a bounded number of slots.

A job never waits for a slot, or an agent that comes to want it would wait behind guesses: without a free
slot it is refused. A function in a thread cannot be stopped; its slot is taken until it returns.
"""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from paste_proxy.agents.protocol import Ended
from paste_proxy.agents.sdk_preview import preview, unfinished
from paste_proxy.agents.sdk_stats import Stats
from paste_proxy.events.result import Status

INSIDE: ContextVar[bool] = ContextVar("paste_inside", default=False)
"""True while a tool runs: what it calls is its own affair and no call of the agent's."""

_VALUES_HELD = 512
"""Jobs whose values are kept, beyond which none is started; the sidecar lets go of them long before."""


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A function that jobs can run."""

    name: str
    run: Callable[[dict[str, Any]], Any]
    """Takes the arguments by name; gives the value, or an awaitable of it if `is_async`."""
    is_async: bool
    failed: Callable[[Any], bool] | None = None
    """Whether a returned value tells of an error."""

    def status_of(self, value: object) -> Status | None:
        """How a run that returned this value ended; None if it has only begun, or nobody can tell."""
        if unfinished(value):
            return None
        try:
            return Status.ERROR if self.failed is not None and self.failed(value) else Status.OK
        except Exception:  # noqa: BLE001  the user's predicate may raise anything
            return None


@dataclass(slots=True, eq=False)
class Job:
    """A job that was started."""

    number: int
    tool: Tool
    ended: Future[Any] = field(default_factory=Future)
    """The value or the tool's exception. Cancelled: it could not be run."""
    task: "asyncio.Task[None] | None" = None
    unwanted: bool = False


class JobPool:
    """Owns the jobs. `start`, `take`, `cancel` and `clear` belong to one thread; jobs end in any.

    Args:
        slots: jobs at once.
        report: told of each job's end, unless it was cancelled.
    """

    def __init__(self, slots: int, report: Callable[[Ended], None], stats: Stats) -> None:
        self._free, self._slots_lock = slots, Lock()
        self._report, self._stats = report, stats
        self._jobs: dict[int, Job] = {}
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        for _ in range(slots):
            Thread(target=self._labour, name="paste-job", daemon=True).start()

    def start(
        self,
        number: int,
        tool: Tool,
        arguments: dict[str, Any],
        context: Context,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        """Start a job, or report that it cannot be run.

        Args:
            context: what the tool finds in context variables.
            loop: where an async tool runs: the agent's own.
        """
        if len(self._jobs) >= _VALUES_HELD or (tool.is_async and loop is None) or not self._enter():
            self.refuse(number)
            return
        job = self._jobs[number] = Job(number, tool)
        self._stats.add("jobs")
        context.run(INSIDE.set, True)
        if loop is None or not tool.is_async:
            self._work.put(lambda: context.run(self._run, job, arguments))
            return
        try:
            loop.call_soon_threadsafe(self._begin, job, arguments, loop, context)
        except RuntimeError:  # the agent's loop has closed
            self._broke(job)

    def refuse(self, number: int) -> None:
        """Report a job that is not run."""
        self._stats.add("jobs_refused")
        self._report(Ended(job=number, status=None))

    def find(self, number: int) -> Job | None:
        """A job that is still wanted."""
        return self._jobs.get(number)

    def take(self, number: int) -> Job | None:
        """A job for good: it is the agent's now."""
        return self._jobs.pop(number, None)

    def cancel(self, number: int) -> None:
        """Let go of a job and its value, and stop it if it can be stopped."""
        job = self._jobs.pop(number, None)
        if job is None or job.ended.done():
            return
        job.unwanted = True
        self._stats.add("jobs_cancelled")
        if job.task is not None:
            with contextlib.suppress(RuntimeError):  # the agent's loop has closed
                job.task.get_loop().call_soon_threadsafe(job.task.cancel)

    def clear(self) -> None:
        """Let go of all jobs."""
        for number in tuple(self._jobs):
            self.cancel(number)

    def close(self) -> None:
        """Let go of all jobs; workers end when they are free."""
        self.clear()
        self._work.put(_stop)

    # --- running ----------------------------------------------------------------------------------

    def _labour(self) -> None:
        while (work := self._work.get()) is not _stop:
            work()
        self._work.put(_stop)

    def _run(self, job: Job, arguments: dict[str, Any]) -> None:
        if job.unwanted:
            self._broke(job)
            return
        try:
            value = job.tool.run(arguments)
        except BaseException as fault:  # noqa: BLE001  the tool's; raised in the agent if the call is its own
            self._raised(job, fault)
        else:
            self._returned(job, value)

    def _begin(self, job: Job, arguments: dict[str, Any], loop: asyncio.AbstractEventLoop, context: Context) -> None:
        if job.unwanted:
            self._broke(job)
        else:
            job.task = loop.create_task(self._run_async(job, arguments), context=context)

    async def _run_async(self, job: Job, arguments: dict[str, Any]) -> None:
        try:
            value = await job.tool.run(arguments)
        except (asyncio.CancelledError, GeneratorExit):
            self._broke(job)
        except BaseException as fault:  # noqa: BLE001  as above
            self._raised(job, fault)
        else:
            self._returned(job, value)

    # --- ending -----------------------------------------------------------------------------------

    def _returned(self, job: Job, value: object) -> None:
        status = job.tool.status_of(value)
        if status is None:
            self._broke(job)
            return
        shown = preview(value)
        job.ended.set_result(value)
        self._leave(job, Ended(job=job.number, status=status, preview=shown))

    def _raised(self, job: Job, fault: BaseException) -> None:
        shown = preview(fault)
        job.ended.set_exception(fault)
        self._leave(job, Ended(job=job.number, status=Status.ERROR, preview=shown))

    def _broke(self, job: Job) -> None:
        self._jobs.pop(job.number, None)
        job.ended.cancel()
        job.ended.set_running_or_notify_cancel()  # only this wakes a thread that waits for it
        self._leave(job, Ended(job=job.number, status=None))

    def _enter(self) -> bool:
        with self._slots_lock:
            if self._free == 0:
                return False
            self._free -= 1
            return True

    def _leave(self, job: Job, end: Ended) -> None:
        with self._slots_lock:
            self._free += 1
        if not job.unwanted:
            self._report(end)


def _stop() -> None:
    """What tells a worker to end."""
