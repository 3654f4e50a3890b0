"""Tools that live in another process, which runs the jobs it is sent and keeps what they return.

Only a preview of an output travels. The result names the job instead, and the process serves the value
itself; so results never need to be serialised.
"""

import asyncio
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class JobResult(ToolResult):
    """The preview of a value that its process holds under a job's number."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Courier:
    """How a backend talks to the process. Nothing here waits or raises."""

    run: Callable[[int, Invocation], None]
    """Send a job."""
    cancel: Callable[[int], None]
    """Stop a job; its end will not be reported."""
    forget: Callable[[int], None]
    """Nobody can ask for this job's value any more."""


class SocketBackend:
    """Runs the tools of one scope.

    Args:
        numbers: gives each job a number, unique for the process at the other end.
    """

    def __init__(self, courier: Courier, numbers: Iterator[int]) -> None:
        self._courier, self._numbers = courier, numbers
        self._running: dict[int, tuple[str, asyncio.Future[ToolResult]]] = {}
        self._closed = False

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        """The preview of what the process got.

        Raises:
            UpstreamFault: the process is gone, or had no room for the job.
        """
        if self._closed:
            raise UpstreamFault(f"tool {invocation.tool!r}: the agent's process has disconnected")
        job = next(self._numbers)
        ended: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()
        self._running[job] = invocation.key, ended
        self._courier.run(job, invocation)
        try:
            return await ended
        except asyncio.CancelledError:
            self._courier.cancel(job)
            raise
        finally:
            del self._running[job]

    def ended(self, job: int, result: ToolResult | None) -> bool:
        """Take the end of a job; None: it could not be run. False if the job is none of ours."""
        key, ended = self._running.get(job, ("", None))
        if ended is None:
            return False
        if ended.done():
            return True
        if result is None:
            ended.set_exception(UpstreamFault(f"the agent's process did not run {key}"))
            return True
        held = JobResult(job=job, body=result.body, status=result.status, content_type=result.content_type)
        weakref.finalize(held, self._courier.forget, job).atexit = False
        ended.set_result(held)
        return True

    def running(self, key: str) -> int | None:
        """The number of a running job for that canonical key."""
        return next((job for job, (asked, ended) in self._running.items() if asked == key and not ended.done()), None)

    async def close(self) -> None:
        """The process is gone: running jobs fail, new ones are refused."""
        self._closed = True
        for job, (key, ended) in self._running.items():
            if not ended.done():
                self._courier.cancel(job)
                ended.set_exception(UpstreamFault(f"the agent's process disconnected while it ran {key}"))
