"""Runs speculative jobs: one asyncio task each, cancelled upstream when told to. Of a staged one it keeps what is held
back, until that is committed or let go."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeAlias

import structlog

from paste_proxy.errors import PasteError, UpstreamBusy
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.types import Committed, JobEnded, JobSent
from paste_proxy.tools.backend import Backend, Connecting, GivingWay, Held, PartDone, Staging

log = structlog.get_logger(__name__)

_Work: TypeAlias = Callable[[], Coroutine[Any, Any, ToolResult]]


class Executor:
    """Owns the tasks of running jobs; tells exactly once for each that it ended."""

    def __init__(self, tell: Callable[[JobEnded | JobSent | Committed], None]) -> None:
        self._tell = tell
        self._due: set[int] = set()
        """Jobs whose turn to begin is to come."""
        self._running: dict[int, asyncio.Task[ToolResult]] = {}
        self._wanted: dict[int, asyncio.Event] = {}
        """Of jobs that give way to others, told when an agent waits for them."""
        self._held: dict[int, Held] = {}
        self._commits: set[asyncio.Task[Committed]] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        """What is being let go."""

    def running(self) -> int:
        """How many jobs are under way."""
        return len(self._running)

    def launch(self, job: int, invocation: Invocation, backend: Backend) -> bool:
        """Start a job; whether its call is sent now, not when the backend has connected (then `JobSent` is told)."""
        waits = isinstance(backend, Connecting) and not backend.connected
        work = partial(self._connected, job, invocation, backend) if waits else self._sent(job, invocation, backend)
        self._start(job, work)
        return not waits

    def stage(self, job: int, invocation: Invocation, backend: Staging) -> None:
        """Start a job whose effects are held back."""
        wanted = self._wanted[job] = asyncio.Event()
        self._start(job, partial(self._staged, job, invocation, backend, wanted))

    def _start(self, job: int, work: _Work) -> None:
        task = self._running[job] = asyncio.create_task(self._in_turn(job, work, len(self._due)), name=f"job-{job}")
        self._due.add(job)
        task.add_done_callback(lambda done: self._finish(job, done))

    async def _in_turn(self, job: int, work: _Work, before: int) -> ToolResult:
        """Of jobs started at one moment each round of the event loop begins one, so that what comes meanwhile waits for
        one of them at most."""
        for _ in range(before):
            await asyncio.sleep(0)
        self._due.discard(job)
        return await work()

    async def _staged(self, job: int, invocation: Invocation, backend: Staging, wanted: asyncio.Event) -> ToolResult:
        held = self._held[job] = await backend.stage(invocation, wanted)
        return held.result

    def want(self, job: int) -> None:
        """An agent waits for a job."""
        if job in self._wanted:
            self._wanted[job].set()

    def commit(self, job: int) -> asyncio.Task[Committed]:
        """Let the effects of a staged job happen; `Committed` is told, whatever comes of it."""
        task = asyncio.create_task(self._commit(job), name=f"commit-{job}")
        self._commits.add(task)
        task.add_done_callback(self._commits.discard)
        return task

    async def _commit(self, job: int) -> Committed:
        held, done, instead = self._held.pop(job, None), False, None
        changed = held is None or held.changes
        try:
            done = held is not None and await held.commit()
        except PartDone as fault:
            done, changed, instead = True, True, fault.told
        except Exception:
            log.exception("commit_fault", job=job)
        committed = Committed(job=job, done=done, changed=changed, instead=instead)
        self._tell(committed)
        return committed

    def _sent(self, job: int, invocation: Invocation, backend: Backend) -> _Work:
        if not isinstance(backend, GivingWay):
            return partial(backend.run, invocation, speculative=True)
        wanted = self._wanted[job] = asyncio.Event()
        return partial(backend.run_aside, invocation, wanted)

    async def _connected(self, job: int, invocation: Invocation, backend: Backend) -> ToolResult:
        assert isinstance(backend, Connecting)
        await backend.connect()
        self._tell(JobSent(job=job))
        return await backend.run(invocation, speculative=True)

    def cancel(self, job: int) -> None:
        """Stop a job if it still runs; let go of what it holds back."""
        task = self._running.get(job)
        if task is not None:
            task.cancel()
        held = self._held.pop(job, None)
        if held is not None:
            leaving = asyncio.create_task(held.discard(), name=f"discard-{job}")
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    def _finish(self, job: int, task: asyncio.Task[ToolResult]) -> None:
        self._running.pop(job, None)
        self._due.discard(job)
        aside = self._wanted.pop(job, None) is not None
        result = retry_after_s = None
        if not task.cancelled():
            fault = task.exception()
            if fault is None:
                result = task.result()
            elif isinstance(fault, UpstreamBusy):
                retry_after_s = fault.retry_after_s or 0.0
            elif not isinstance(fault, PasteError):
                log.warning("job_fault", job=job, fault=repr(fault))
        self._tell(JobEnded(job=job, result=result, retry_after_s=retry_after_s, aside=aside))

    async def close(self) -> None:
        """Cancel everything and wait until it is gone."""
        for job in [*self._running, *self._held]:
            self.cancel(job)
        while tasks := [*self._running.values(), *self._commits, *self._leaving]:
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)  # lets what they are done with be taken off
