"""Runs speculative jobs: one asyncio task each, cancelled upstream when told to."""

import asyncio
from collections.abc import Callable

import structlog

from paste_proxy.errors import PasteError
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.types import JobEnded
from paste_proxy.tools.backend import Backend

log = structlog.get_logger(__name__)


class Executor:
    """Owns the tasks of running jobs; tells `ended` exactly once for each."""

    def __init__(self, ended: Callable[[JobEnded], None]) -> None:
        self._ended = ended
        self._running: dict[int, asyncio.Task[ToolResult]] = {}

    def launch(self, job: int, invocation: Invocation, backend: Backend) -> None:
        """Start a job."""
        task = asyncio.create_task(backend.run(invocation, speculative=True), name=f"job-{job}")
        self._running[job] = task
        task.add_done_callback(lambda done: self._finish(job, done))

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
        self._ended(JobEnded(job=job, result=result))

    async def close(self) -> None:
        """Cancel everything and wait until it is gone."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
