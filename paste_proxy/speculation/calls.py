"""The agent's own calls: reuse, promote or run (PASTE 4.2, match and promotion; 3.3.2).

A call that no job matches starts or queues as if there were no speculation. A call that one matches is
answered with the finished result at once, or waits for the running job, which from then on is the call. A job
whose own connection is still opening is given up: the agent's is open. The effects of a staged job happen in
between: if they cannot, the call is run.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import assert_never

from paste_proxy.events.invocation import server_of
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome, Why
from paste_proxy.speculation.earlier import Earlier
from paste_proxy.speculation.jobs import Jobs, settled
from paste_proxy.speculation.lanes import Call, Lane
from paste_proxy.speculation.ledger import Job
from paste_proxy.speculation.matching import Match
from paste_proxy.speculation.rehearsing import Rehearsing
from paste_proxy.speculation.state import State
from paste_proxy.speculation.types import Asked, CallEnded, Command, Commit, Committed, JobEnded, Promote, Run, Serve


class Calls:
    """Every authoritative call from its asking to its end."""

    def __init__(self, state: State, jobs: Jobs) -> None:
        self._state, self._jobs = state, jobs
        self._earlier = Earlier(state, jobs)
        self._rehearsing = Rehearsing(state, jobs)
        self._calls: dict[int, Call] = {}

    def step(self, told: Asked | CallEnded | JobEnded | Committed, now: float) -> Iterator[Command]:
        """What follows for the calls."""
        match told:
            case Asked():
                return self._asked(told, now)
            case CallEnded():
                return self._ended(told, now)
            case JobEnded():
                return self._job_ended(told, now)
            case Committed():
                return self._committed(told, now)
            case _:
                assert_never(told)

    def _asked(self, told: Asked, now: float) -> Iterator[Command]:
        """Serve the call from a job, or run it, at once or in its turn."""
        call = self._enter(told, now)
        yield from self._rehearsing.asked(told, now)
        # Writes have voided what they touch already; nothing passes the commit boundary on that alone.
        match = self._state.matching.find(told.session, told.scope, told.invocation)
        if match is not None and (self._jobs.stale(match.job) or self._jobs.outrun(match.job, now)):
            yield from self._jobs.drop(match.job, Why.STALE, now)
            match = None
        answered = match is not None and (yield from self._taken(call, match, now))
        if call.job is None:  # what a staged job does happens when it is committed
            yield from self._writes(call, now)
        if not answered and not self._earlier.joins(call):
            yield from self._start(call, now)

    def _taken(self, call: Call, match: Match, now: float) -> Generator[Command, None, bool]:
        """Take the job that answers a call. False: the call has to be run all the same."""
        job = match.job
        if match.late and not job.shadow:
            return False
        self._state.experience.led(job.source, now - job.started_at)
        if job.shadow:
            self._state.ledger.remove(job)
            call.shadow, call.late = job, match.late
            return False
        if job.unsent:
            yield from self._jobs.drop(job, Why.CONNECTING, now)
            return False
        if match.result is None:
            yield from self._promote(call, job)
        elif job.earlier:
            yield from self._again(call, job, match.result, now)
        elif job.staged:
            self._state.ledger.claim(job, call.number)
            yield from self._commit(call, job, match.result, now)
        else:
            yield from self._reuse(call, job, match.result, now)
        return True

    def _enter(self, told: Asked, now: float) -> Call:
        ruling = self._state.policy.rule_for(told.invocation)
        call = Call(
            number=told.call,
            places=[self._state.matching.place(told.session, told.scope, told.invocation)],
            invocation=told.invocation,
            lane=self._state.lane(server_of(told.invocation.tool)),
            writes=ruling.written_by(told.session, told.invocation),
            asked_at=now,
            rule=ruling.place,
            reuse_s=self._earlier.reuse_s(ruling),
        )
        self._calls[call.number] = call
        self._state.asked.update(call.places)
        return call

    def _writes(self, call: Call, now: float) -> Iterator[Command]:
        """A call may write from now on."""
        if call.writes:
            call.writing = True
            self._state.writes.began(call.writes)
            yield from self._jobs.void(now)

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
                yield from self._jobs.drop(job, Why.SLOT, now)
        call.started_at, call.epoch = now, self._state.writes.open.epoch
        self._earlier.leads(call, now)
        self._state.called(call.rule, now)
        yield Run(call=call.number)

    def _again(self, call: Call, earlier: Job, result: ToolResult, now: float) -> Iterator[Command]:
        """An earlier answer serves a call, and stays for others."""
        self._leave(call)
        job = replace(earlier, number=next(self._state.job_numbers), started_at=now, ended_at=now)
        took = self._took(call, earlier, result, now)
        yield Serve(call=call.number, job=job.number, result=result, outcome=Outcome.REUSED, took_s=took)
        yield settled(job, Outcome.REUSED, now, saved_s=max(0.0, took - (now - call.asked_at)))

    def _reuse(self, call: Call, job: Job, result: ToolResult, now: float) -> Iterator[Command]:
        self._state.ledger.remove(job)
        self._leave(call)
        took = self._took(call, job, result, now)
        yield Serve(call=call.number, job=job.number, result=result, outcome=Outcome.REUSED, took_s=took)
        yield settled(job, Outcome.REUSED, now, saved_s=took)
        yield from self._earlier.served(call, job, result, now)

    def _promote(self, call: Call, job: Job) -> Iterator[Command]:
        self._state.ledger.promote(job, call.number)
        call.job, call.waited = job, True
        call.places.append(job.place)
        self._state.asked[job.place] += 1
        call.lane.authoritative += 1
        yield Promote(call=call.number, job=job.number)

    def _job_ended(self, told: JobEnded, now: float) -> Iterator[Command]:
        """A job ran to its end: keep it, or serve the call it was promoted for."""
        job = self._state.ledger.numbered(told.job)
        if job is None or job.shadow or job.ended_at is not None:
            return
        if told.result is not None:
            job.bytes, job.cpu_s = len(told.result.body), told.result.cpu_s
        self._state.job_ended(job, told, now)
        if told.result is not None and told.result.status is Status.OK and job.rehearses is None:
            learn = self._state.experience.ran_aside if told.aside else self._state.experience.ran
            learn(job.invocation.tool, _worked_s(job, told.result, now))
        if job.call is None:
            yield from self._jobs.keep(job, told.result, now)
        else:
            yield from self._finish(self._calls[job.call], job, told.result, now)

    def _finish(self, call: Call, job: Job, result: ToolResult | None, now: float) -> Iterator[Command]:
        answer = None if result is None else self._state.matching.answer(call.invocation, job, result, now)
        if answer is None or (job.staged and answer.status is not Status.OK):
            yield from self._in_vain(call, job, _unfit(result), now)
        elif job.staged:
            job.ended_at = now
            yield from self._commit(call, job, answer, now)
        else:
            yield from self._serve(call, job, answer, now)

    def _commit(self, call: Call, job: Job, answer: ToolResult, now: float) -> Iterator[Command]:
        call.job, call.answer, job.commits_at = job, answer, now
        self._state.writes.commits(call.writes)
        yield Commit(call=call.number, job=job.number, result=answer, outcome=_outcome(call))
        yield from self._jobs.void(now)

    def _committed(self, told: Committed, now: float) -> Iterator[Command]:
        """The effects of a staged job have happened, or cannot: serve its call, or run it."""
        job = self._state.ledger.numbered(told.job)
        call = self._calls.get(job.call) if job is not None and job.call is not None else None
        if job is None or call is None or call.answer is None:
            return
        answer, call.answer = call.answer, None
        self._state.writes.committed(call.writes, changed=told.done and told.changed)
        yield from self._jobs.void(now)
        if told.done:
            yield from self._serve(call, job, told.instead or answer, now)
        else:
            yield from self._in_vain(call, job, Why.COMMIT, now)

    def _in_vain(self, call: Call, job: Job, why: Why, now: float) -> Iterator[Command]:
        """The job that a call waited for does not answer it."""
        self._state.ledger.remove(job)
        call.job = None
        if call.gone:
            self._leave(call)
            if call.waited:
                yield from self._slot_freed(call.lane, now)
        elif call.waited:
            yield from self._writes(call, now)
            call.started_at = now
            self._state.called(call.rule, now)
            yield Run(call=call.number)
        else:
            yield from self._writes(call, now)
            yield from self._start(call, now)
        yield from self._jobs.useless(job, why, now)

    def _serve(self, call: Call, job: Job, answer: ToolResult, now: float) -> Iterator[Command]:
        """A call has waited for its job, or for what that does, and gets its answer."""
        self._state.ledger.remove(job)
        call.job = None
        self._leave(call)
        took, outcome = self._took(call, job, answer, now), _outcome(call)
        yield Serve(call=call.number, job=job.number, result=answer, outcome=outcome, took_s=took)
        yield settled(job, outcome, now, saved_s=max(0.0, took - (now - call.asked_at)))
        if answer.status is Status.OK:
            yield from self._earlier.served(call, replace(job, ended_at=job.ended_at or now), answer, now)
        if call.waited:
            yield from self._slot_freed(call.lane, now)

    def _took(self, call: Call, job: Job, result: ToolResult, now: float) -> float:
        """Seconds that the agent would have waited for the tool, as far as that is known."""
        worked = _worked_s(job, result, now)
        if not job.staged:
            return worked
        cpu_s = result.cpu_s if job.cpu_s is None else job.cpu_s
        return self._state.experience.usual_s(job.invocation.tool, _key(call), worked, cpu_s)

    def _ended(self, told: CallEnded, now: float) -> Iterator[Command]:
        """A call is over: one that ran, one that queued, or one that waited for its job and gave up."""
        call = self._calls.get(told.call)
        if call is None:
            return
        if call.answer is not None:  # what happens now happens, whoever has gone
            call.gone = True
            return
        self._leave(call)
        self._write_ended(call, told.status, now)
        if told.result is not None:
            self._state.answered(call.invocation.tool, told.result, now)
        followers, answer = self._earlier.ended(call), self._earlier.answer(call, told, now)
        if call.started_at is not None and told.status is Status.OK:
            self._state.experience.ran(call.invocation.tool, now - call.started_at)
            self._state.experience.answered(_key(call), now - call.started_at)
        if call.shadow is not None:
            yield _score(call.shadow, call, told.status, now)
        if call.job is not None:
            yield from self._demote(call.job, now)
        if call.started_at is None and call.job is None:
            call.lane.drop(call)
        else:
            yield from self._slot_freed(call.lane, now)
        if answer is not None:
            yield from self._earlier.keep(answer, now)
        for follower in followers:
            if answer is not None and answer.result is not None:
                yield from self._again(follower, answer, answer.result, now)
            elif not self._earlier.joins(follower):
                yield from self._start(follower, now)

    def _write_ended(self, call: Call, status: Status | None, now: float) -> None:
        if not call.writing:
            return
        if call.started_at is not None and status is None:
            self._state.writes.linger(call.writes, now)
        self._state.writes.ended(call.writes)

    def _demote(self, job: Job, now: float) -> Iterator[Command]:
        self._state.ledger.demote(job)
        if self._jobs.stale(job):
            yield from self._jobs.drop(job, Why.STALE, now)
        elif job.expires_at <= now or job.staged:  # one that an agent stopped is not to go on by itself
            yield from self._jobs.drop(job, Why.UNASKED, now)

    def _slot_freed(self, lane: Lane, now: float) -> Iterator[Command]:
        lane.authoritative -= 1
        self._state.slots_freed += lane.capacity.total is not None
        while lane.queue and lane.free():
            yield from self._run(lane.queue.popleft(), now)


def _key(call: Call) -> str:
    """Of its plain form."""
    return call.places[0][2]


def _unfit(result: ToolResult | None) -> Why:
    """Why a job's result does not answer the call that waited for it."""
    if result is None:
        return Why.FAULT
    return Why.ERROR if result.status is not Status.OK else Why.UNFIT


def _outcome(call: Call) -> Outcome:
    return Outcome.PROMOTED if call.waited else Outcome.REUSED


def _worked_s(job: Job, result: ToolResult, now: float) -> float:
    """Seconds the tool worked: the job's time without what only a job of its own had to start."""
    ran = job.ran_s(now)
    return ran if result.took_s is None else min(ran, result.took_s)


def _score(job: Job, call: Call, status: Status | None, now: float) -> Command:
    """What a shadow job would have been for the call, with the duration that the call really had."""
    lead = call.asked_at - job.started_at
    if call.started_at is None or status is None:
        return settled(job, Outcome.DISCARDED, now, why=Why.UNFIT)
    took = now - call.started_at
    job.ended_at = job.started_at + took
    if lead < took and not call.late:
        return settled(job, Outcome.PROMOTED, now, saved_s=lead)
    if status is not Status.OK:
        return settled(job, Outcome.DISCARDED, now, why=Why.ERROR)
    if lead < took:
        return settled(job, Outcome.DISCARDED, now, why=Why.UNFIT)
    return settled(job, Outcome.REUSED, now, saved_s=took)
