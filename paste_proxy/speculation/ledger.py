"""The speculative jobs, by session, scope and canonical key.

A job is running or ready, and promoted once a call waits for it; a promoted one is out of reach here
except by its number. There is one unpromoted job a place, it serves one call, and what is held is bounded
in results and bytes: beyond a bound the results that would expire first go.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

from paste_proxy.events.invocation import Invocation, server_of
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.utility import Worth

Place: TypeAlias = tuple[str, str, str]
"""Session, scope and canonical key."""


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """One speculative job."""

    number: int
    place: Place
    invocation: Invocation
    source: str
    confidence: float
    utility: float
    expected_s: float
    reads: frozenset[str]
    epoch: int
    """The epoch of effects it started in."""
    started_at: float
    expires_at: float
    shadow: bool
    """Nothing runs; it is taken to end after the time expected of it."""
    staged: bool = False
    """Its effects are held back until it is committed."""
    rehearses: Invocation | None = None
    """It only gets ready for this call, of which it runs a changed form; its result is of no use."""
    earlier: bool = False
    """It is no guess but an earlier call of the agent, whose answer serves any number of calls."""
    likely: float = 0.0
    """Probability that it is asked for, as far as is known by now."""
    later: float = 0.0
    """The part of it that does not rest on the very next call."""
    rule: str = ""
    """The place of the rule that allows it."""
    admitted: Worth | None = None
    """What it was expected to bring when it was launched; None of an earlier call."""
    cost: float = 0.0
    ended_at: float | None = None
    result: ToolResult | None = None
    bytes: int | None = None
    """Of the result it came to, whether that is kept or not."""
    cpu_s: float | None = None
    commits_at: float | None = None
    """When its effects were let happen."""
    call: int | None = None
    """The call it is promoted for."""
    unsent: bool = False
    """It waits for a connection of its own; until then it has nothing that a call could wait for."""

    @property
    def session(self) -> str:
        """Whose job it is."""
        return self.place[0]

    @property
    def meant(self) -> Invocation:
        """The call that it is for."""
        return self.rehearses or self.invocation

    @property
    def server(self) -> str:
        """Whose slot it takes."""
        return server_of(self.invocation.tool)

    def ran_s(self, now: float) -> float:
        """Seconds from its start to its end, or to `now`."""
        return (now if self.ended_at is None else self.ended_at) - self.started_at


class Ledger:
    """All jobs that are not settled.

    Args:
        held_results: ready jobs kept at most.
        held_bytes: bytes of their results, in all.
    """

    def __init__(self, *, held_results: int, held_bytes: int) -> None:
        self._held_results, self._held_bytes = held_results, held_bytes
        self.left = 0
        """Moves when a job leaves its slot."""
        self._jobs: dict[int, Job] = {}
        self._open: dict[Place, Job] = {}
        self._running: dict[int, Job] = {}
        self._ready: dict[int, Job] = {}
        self._bytes = 0
        self._expiries: list[tuple[float, int]] = []

    def add(self, job: Job) -> None:
        """A job starts; its place must be free."""
        self._jobs[job.number] = self._running[job.number] = self._open[job.place] = job
        heappush(self._expiries, (job.expires_at, job.number))

    def keep(self, job: Job) -> list[Job]:
        """Add one that is ready; its place must be free. Returns the jobs that no longer fit."""
        self._jobs[job.number] = self._ready[job.number] = self._open[job.place] = job
        self._bytes += _size(job)
        heappush(self._expiries, (job.expires_at, job.number))
        return list(self._too_many())

    def at(self, place: Place) -> Job | None:
        """The unpromoted job of a place."""
        return self._open.get(place)

    def numbered(self, number: int) -> Job | None:
        """A job by its number, promoted or not."""
        return self._jobs.get(number)

    def waits(self, number: int, unsent: bool) -> None:
        """A job waits for its connection, or does so no more."""
        if (job := self._jobs.get(number)) is not None:
            job.unsent = unsent

    def unpromoted(self) -> list[Job]:
        """Every job that no call waits for."""
        return list(self._open.values())

    def running(self, *, shadow: bool) -> list[Job]:
        """The unpromoted running jobs that are real, or those that are not."""
        return [job for job in self._running.values() if job.shadow is shadow]

    def finish(self, job: Job, at: float, result: ToolResult | None) -> list[Job]:
        """An unpromoted job ended well at a time; returns the jobs that no longer fit."""
        self.left += 1
        del self._running[job.number]
        job.ended_at, job.result = at, result
        self._ready[job.number] = job
        self._bytes += _size(job)
        return list(self._too_many())

    def _too_many(self) -> Iterator[Job]:
        results, held = len(self._ready), self._bytes
        for job in sorted(self._ready.values(), key=lambda job: job.expires_at):
            if results <= self._held_results and held <= self._held_bytes:
                return
            results, held = results - 1, held - _size(job)
            yield job

    def promote(self, job: Job, call: int) -> None:
        """A call waits for a running job from now on."""
        self.left += 1
        job.call = call
        del self._running[job.number], self._open[job.place]

    def claim(self, job: Job, call: int) -> None:
        """A call takes a ready job, which stays until its effects have happened."""
        self._leave_ready(job)
        job.call = call
        del self._open[job.place]

    def demote(self, job: Job) -> None:
        """The call that waited is gone; the job is like any other again."""
        job.call = None
        self._running[job.number] = self._open[job.place] = job
        heappush(self._expiries, (job.expires_at, job.number))

    def remove(self, job: Job) -> None:
        """The job is settled."""
        del self._jobs[job.number]
        self.left += self._running.pop(job.number, None) is not None
        self._leave_ready(job)
        if job.call is None:
            del self._open[job.place]

    def _leave_ready(self, job: Job) -> None:
        if self._ready.pop(job.number, None):
            self._bytes -= _size(job)

    def expired(self, now: float) -> list[Job]:
        """The unpromoted jobs whose time is over."""
        return [job for job in self._open.values() if job.expires_at <= now] if self._due(now) else []

    def _due(self, now: float) -> bool:
        soonest = self.next_expiry()
        return soonest is not None and soonest <= now

    def next_expiry(self) -> float | None:
        """When the next unpromoted job expires."""
        while self._expiries:
            at, number = self._expiries[0]
            job = self._jobs.get(number)
            if job is not None and job.call is None:
                return at
            heappop(self._expiries)
        return None


def _size(job: Job) -> int:
    return len(job.result.body) if job.result is not None else 0
