"""The agent's own calls: reuse, promote or run (PASTE 4.2, match and promotion; 3.3.2).

A call that no job matches starts or queues as if there were no speculation. A call that one matches is
answered with the finished result at once, or waits for the running job, which from then on is the call. A job
whose own connection is still opening is given up: the agent's is open.
"""

from collections.abc import Iterator

from paste_proxy.events.invocation import server_of
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome
from paste_proxy.speculation.jobs import Jobs, settled
from paste_proxy.speculation.lanes import Call, Lane
from paste_proxy.speculation.ledger import Job
from paste_proxy.speculation.matching import Match
from paste_proxy.speculation.state import State
from paste_proxy.speculation.types import Asked, CallEnded, Command, JobEnded, Promote, Run, Serve


class Calls:
    """Every authoritative call from its asking to its end."""

    def __init__(self, state: State, jobs: Jobs) -> None:
        self._state, self._jobs = state, jobs
        self._calls: dict[int, Call] = {}

    def asked(self, told: Asked, now: float) -> Iterator[Command]:
        """Serve the call from a job, or run it, at once or in its turn."""
        call = self._enter(told, now)
        if call.writes:
            self._state.effects.began(call.writes)
            yield from self._jobs.void(now)
        # Writes have voided what they touch already; nothing passes the commit boundary on that alone.
        match = self._state.matching.find(told.session, told.scope, told.invocation)
        if match is not None and self._jobs.stale(match.job):
            yield from self._jobs.drop(match.job, Outcome.DISCARDED, now)
            match = None
        if match is None or (match.late and not match.job.shadow):
            yield from self._start(call, now)
        else:
            self._state.experience.led(match.job.source, now - match.job.started_at)
            yield from self._answer(call, match, now)

    def _answer(self, call: Call, match: Match, now: float) -> Iterator[Command]:
        job = match.job
        if job.shadow:
            self._state.ledger.remove(job)
            call.shadow, call.late = job, match.late
            yield from self._start(call, now)
        elif match.result is not None:
            yield from self._reuse(call, job, match.result, now)
        elif job.unsent:
            yield from self._jobs.drop(job, Outcome.PREEMPTED, now)
            yield from self._start(call, now)
        else:
            yield from self._promote(call, job)

    def _enter(self, told: Asked, now: float) -> Call:
        tool = told.invocation.tool
        call = Call(
            number=told.call,
            places=[self._state.matching.place(told.session, told.scope, told.invocation)],
            invocation=told.invocation,
            lane=self._state.lane(server_of(tool)),
            writes=self._state.policy.rule_for(tool).written_by(told.session, told.invocation),
            asked_at=now,
        )
        self._calls[call.number] = call
        self._state.asked.update(call.places)
        return call

    def _leave(self, call: Call) -> None:
        del self._calls[call.number]
        for place in call.places:
            self._state.asked[place] -= 1
            if not self._state.asked[place]:
                del self._state.asked[place]

    def _start(self, call: Call, now: float) -> Iterator[Command]:
        if call.lane.free():
            yield from self._run(call, now)
        else:
            call.lane.queue.append(call)

    def _run(self, call: Call, now: float) -> Iterator[Command]:
        call.lane.authoritative += 1
        for shadow in (False, True):
            for job in call.lane.too_many(self._state.ledger.running(shadow=shadow)):
                yield from self._jobs.drop(job, Outcome.PREEMPTED, now)
        call.started_at = now
        yield Run(call=call.number)

    def _reuse(self, call: Call, job: Job, result: ToolResult, now: float) -> Iterator[Command]:
        self._state.ledger.remove(job)
        self._leave(call)
        took = _took(job, result, now)
        yield Serve(call=call.number, job=job.number, result=result, outcome=Outcome.REUSED, took_s=took)
        yield settled(job, Outcome.REUSED, now, saved_s=took)

    def _promote(self, call: Call, job: Job) -> Iterator[Command]:
        self._state.ledger.promote(job, call.number)
        call.job = job
        call.places.append(job.place)
        self._state.asked[job.place] += 1
        call.lane.authoritative += 1
        yield Promote(call=call.number, job=job.number)

    def job_ended(self, told: JobEnded, now: float) -> Iterator[Command]:
        """A job ran to its end: keep it, or serve the call it was promoted for."""
        job = self._state.ledger.numbered(told.job)
        if job is None or job.shadow or job.ended_at is not None:
            return
        if told.result is not None and told.result.status is Status.OK:
            self._state.experience.ran(job.invocation.tool, _took(job, told.result, now))
        if job.call is None:
            yield from self._jobs.keep(job, told.result, now)
        else:
            self._state.ledger.remove(job)
            yield from self._finish(self._calls[job.call], job, told.result, now)

    def _finish(self, call: Call, job: Job, result: ToolResult | None, now: float) -> Iterator[Command]:
        call.job = None
        answer = None if result is None else self._state.matching.answer(call.invocation, job, result, now)
        if answer is None:
            call.started_at = now
            yield Run(call=call.number)
            yield settled(job, Outcome.DISCARDED, now)
            return
        self._leave(call)
        took = _took(job, answer, now)
        yield Serve(call=call.number, job=job.number, result=answer, outcome=Outcome.PROMOTED, took_s=took)
        yield settled(job, Outcome.PROMOTED, now, saved_s=max(0.0, took - (now - call.asked_at)))
        yield from self._slot_freed(call.lane, now)

    def ended(self, told: CallEnded, now: float) -> Iterator[Command]:
        """A call is over: one that ran, one that queued, or one that waited for its job and gave up."""
        call = self._calls.get(told.call)
        if call is None:
            return
        self._leave(call)
        self._write_ended(call, told.status, now)
        if call.started_at is not None and told.status is Status.OK:
            self._state.experience.ran(call.invocation.tool, now - call.started_at)
        if call.shadow is not None:
            yield _score(call.shadow, call, told.status, now)
        if call.job is not None:
            yield from self._demote(call.job, now)
        if call.started_at is None and call.job is None:
            call.lane.queue.remove(call)
        else:
            yield from self._slot_freed(call.lane, now)

    def _write_ended(self, call: Call, status: Status | None, now: float) -> None:
        if call.started_at is not None and status is None:
            self._state.effects.linger(call.writes, now)
        self._state.effects.ended(call.writes)

    def _demote(self, job: Job, now: float) -> Iterator[Command]:
        self._state.ledger.demote(job)
        if self._jobs.stale(job) or job.expires_at <= now:
            yield from self._jobs.drop(job, Outcome.DISCARDED, now)

    def _slot_freed(self, lane: Lane, now: float) -> Iterator[Command]:
        lane.authoritative -= 1
        self._state.slots_freed += lane.capacity.total is not None
        while lane.queue and lane.free():
            yield from self._run(lane.queue.popleft(), now)


def _took(job: Job, result: ToolResult, now: float) -> float:
    """Seconds the tool worked: the job's time without what only a job of its own had to start."""
    ran = job.ran_s(now)
    return ran if result.took_s is None else min(ran, result.took_s)


def _score(job: Job, call: Call, status: Status | None, now: float) -> Command:
    """What a shadow job would have been for the call, with the duration that the call really had."""
    lead = call.asked_at - job.started_at
    if call.started_at is None or status is None:
        return settled(job, Outcome.DISCARDED, now)
    took = now - call.started_at
    job.ended_at = job.started_at + took
    if lead < took and not call.late:
        return settled(job, Outcome.PROMOTED, now, saved_s=lead)
    kept = status is Status.OK and lead >= took
    return settled(job, Outcome.REUSED if kept else Outcome.DISCARDED, now, saved_s=took if kept else 0.0)
