"""Runs speculative jobs: one asyncio task each, cancelled upstream when told to."""

import asyncio
from collections.abc import Callable

import structlog

from paste_proxy.errors import PasteError
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.types import JobEnded, JobSent
from paste_proxy.tools.backend import Backend, Connecting

log = structlog.get_logger(__name__)


class Executor:
    """Owns the tasks of running jobs; tells exactly once for each that it ended."""

    def __init__(self, tell: Callable[[JobEnded | JobSent], None]) -> None:
        self._tell = tell
        self._running: dict[int, asyncio.Task[ToolResult]] = {}

    def launch(self, job: int, invocation: Invocation, backend: Backend) -> bool:
        """Start a job; whether its call is sent now, not when the backend has connected (then `JobSent` is told)."""
        waits = isinstance(backend, Connecting) and not backend.connected
        work = self._connected(job, invocation, backend) if waits else backend.run(invocation, speculative=True)
        task = asyncio.create_task(work, name=f"job-{job}")
        self._running[job] = task
        task.add_done_callback(lambda done: self._finish(job, done))
        return not waits

    async def _connected(self, job: int, invocation: Invocation, backend: Backend) -> ToolResult:
        assert isinstance(backend, Connecting)
        await backend.connect()
        self._tell(JobSent(job=job))
        return await backend.run(invocation, speculative=True)

    def cancel(self, job: int) -> None:
        """Stop a job if it still runs."""
        task = self._running.get(job)
        if task is not None:
            task.cancel()

    def _finish(self, job: int, task: asyncio.Task[ToolResult]) -> None:
        self._running.pop(job, None)
        result = None
        if not task.cancelled():
            fault = task.exception()
            if fault is None:
                result = task.result()
            elif not isinstance(fault, PasteError):
                log.warning("job_fault", job=job, fault=repr(fault))
        self._tell(JobEnded(job=job, result=result))

    async def close(self) -> None:
        """Cancel everything and wait until it is gone."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
