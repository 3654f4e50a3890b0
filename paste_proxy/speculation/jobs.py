"""How speculative jobs end when no call takes them, and the one form in which every end is told."""

from collections.abc import Iterator

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome, Why
from paste_proxy.speculation.ledger import Job
from paste_proxy.speculation.rules import Effect
from paste_proxy.speculation.state import State
from paste_proxy.speculation.types import Cancel, Command, Settled

_PREEMPTED = (Why.BETTER, Why.SLOT, Why.UNLIKELY, Why.CONNECTING)
"""Cancelled for the sake of something else."""


class Jobs:
    """Keeps, voids, expires and drops the unpromoted jobs."""

    def __init__(self, state: State) -> None:
        self._state = state

    def stale(self, job: Job) -> bool:
        """Whether what the job reads was written since it started, or its tool, no read any more, may have written.

        A write on its way now moved the epoch when it began, and nothing that reads its domain started since.
        """
        if job.rehearses is not None:  # a result that is of no use is not out of date, but one that runs gives way
            return job.ended_at is None and self._state.writes.open.moved(job.reads, job.epoch)
        if not job.staged and self._state.policy.rule_for(job.invocation).effect is Effect.WRITE:
            return True
        return self._state.writes.of(staged=job.staged).moved(job.reads, job.epoch)

    def outrun(self, job: Job, now: float) -> bool:
        """Whether another's commit may be changing what a staged job rests on just now."""
        return job.staged and self._state.writes.committing(job.reads, now)

    def drop(self, job: Job, why: Why, now: float) -> Iterator[Command]:
        """An unpromoted job is not wanted any more."""
        self._state.ledger.remove(job)
        if job.earlier:
            return
        if not job.shadow and (job.ended_at is None or job.staged):
            yield Cancel(job=job.number)
        yield settled(job, Outcome.PREEMPTED if why in _PREEMPTED else Outcome.DISCARDED, now, why=why)

    def keep(self, job: Job, result: ToolResult | None, now: float) -> Iterator[Command]:
        """An unpromoted job ran to its end: its result waits for one call, if it is whole, good and not too big."""
        why = self._unfit(result)
        if result is None or why is not None:
            self._state.ledger.remove(job)
            yield from self.useless(job, why or Why.FAULT, now)
            return
        for loser in self._state.ledger.finish(job, now, None if job.rehearses is not None else result):
            yield from self.drop(loser, Why.NO_ROOM, now)

    def _unfit(self, result: ToolResult | None) -> Why | None:
        """Why no call may be answered with a result."""
        if result is None:
            return Why.FAULT
        if result.status is not Status.OK:
            return Why.ERROR
        return Why.TOO_BIG if len(result.body) > self._state.limits.result_bytes else None

    def useless(self, job: Job, why: Why, now: float) -> Iterator[Command]:
        """A job that has left the ledger came to nothing."""
        if job.staged:
            yield Cancel(job=job.number)
        yield settled(job, Outcome.DISCARDED, now, why=why)

    def void(self, now: float) -> Iterator[Command]:
        """Something was written: drop what read it."""
        for job in self._state.ledger.unpromoted():
            if self.stale(job):
                yield from self.drop(job, Why.STALE, now)

    def discard(self, session: str | None, now: float) -> Iterator[Command]:
        """Drop all unpromoted jobs of a session that is over, or of every one because something was not observed."""
        for job in self._state.ledger.unpromoted():
            if session is None or job.session == session:
                yield from self.drop(job, Why.UNSEEN if session is None else Why.OVER, now)

    def time_passed(self, now: float) -> Iterator[Command]:
        """Shadow jobs come to their expected end; drop what nobody asked for in time."""
        ledger = self._state.ledger
        for job in ledger.running(shadow=True):
            if job.started_at + job.expected_s <= now:
                for loser in ledger.finish(job, job.started_at + job.expected_s, None):
                    yield from self.drop(loser, Why.NO_ROOM, now)
        for job in ledger.expired(now):
            yield from self.drop(job, Why.UNASKED, now)


def settled(job: Job, outcome: Outcome, now: float, saved_s: float = 0.0, why: Why | None = None) -> Settled:
    """The account of a job; one that is still running stops at `now`."""
    return Settled(
        job=job.number,
        session=job.session,
        invocation=job.invocation,
        source=job.source,
        confidence=job.confidence,
        outcome=outcome,
        ran_s=job.ran_s(now),
        saved_s=saved_s,
        shadow=job.shadow,
        why=why,
        rule=job.rule,
        utility=job.admitted.utility if job.admitted else 0.0,
        benefit_s=job.admitted.benefit_s if job.admitted else 0.0,
        cost=job.cost,
        again=job.earlier,
        staged=job.staged,
        rehearsal=job.rehearses is not None,
        commit_s=None if job.commits_at is None else now - job.commits_at,
        bytes=job.bytes,
        cpu_s=job.cpu_s,
    )
