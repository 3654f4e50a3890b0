"""Answers that the agent was given, for the same calls of its session after them, where a rule says `reuse_s`.

A call that is asked while one like it runs waits for that one's answer; one that is asked later is given it, as long
as nothing was written that it reads. An error answers nobody else, and neither does a call that was cut.
"""

from collections.abc import Iterator
from dataclasses import replace

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Why
from paste_proxy.speculation.jobs import Jobs
from paste_proxy.speculation.lanes import Call
from paste_proxy.speculation.ledger import Job, Place
from paste_proxy.speculation.policy import Ruling
from paste_proxy.speculation.state import State
from paste_proxy.speculation.types import CallEnded, Command, Mode

_SOURCE = "earlier"


class Earlier:
    """The calls that run and may answer others, and what becomes of their answers."""

    def __init__(self, state: State, jobs: Jobs) -> None:
        self._state, self._jobs = state, jobs
        self._leading: dict[Place, Call] = {}

    def reuse_s(self, ruling: Ruling) -> float | None:
        """How long an answer serves again, as far as the modes go."""
        live = self._state.mode is Mode.SPECULATE and ruling.mode is Mode.SPECULATE
        return ruling.reuse_s if live else None

    def leads(self, call: Call, now: float) -> None:
        """A call starts; others may wait for it, unless it may just miss a write that is on its way."""
        if call.reuse_s is not None and self._state.writes.open.dirty(self._reads(call), now):
            call.reuse_s = None
        if call.reuse_s is not None:
            self._leading.setdefault(call.places[0], call)

    def joins(self, call: Call) -> bool:
        """Whether a call waits for one like it that runs, because of which it need not start."""
        leader = self._leading.get(call.places[0]) if call.reuse_s is not None else None
        if leader is None or self._state.writes.open.moved(self._reads(leader), leader.epoch):
            return False
        leader.followers.append(call)
        call.leader = leader
        return True

    def ended(self, call: Call) -> list[Call]:
        """A call is over: those that waited for it."""
        if call.leader is not None:
            call.leader.followers.remove(call)
        if self._leading.get(call.places[0]) is call:
            del self._leading[call.places[0]]
        followers, call.followers = call.followers, []
        for follower in followers:
            follower.leader = None
        return followers

    def answer(self, call: Call, told: CallEnded, now: float) -> Job | None:
        """What the answer of a call is to those like it; None if it is nothing to them."""
        result, began = told.result, call.started_at
        if call.reuse_s is None or result is None or began is None or told.status is not Status.OK:
            return None
        return Job(
            number=next(self._state.job_numbers),
            place=call.places[0],
            invocation=call.invocation,
            source=_SOURCE,
            confidence=1.0,
            utility=0.0,
            expected_s=now - began,
            reads=self._reads(call),
            epoch=call.epoch,
            started_at=began,
            expires_at=now + call.reuse_s,
            shadow=False,
            earlier=True,
            ended_at=now,
            result=result,
        )

    def served(self, call: Call, job: Job, result: ToolResult, now: float) -> Iterator[Command]:
        """A job has answered a call: from now on that is an earlier answer as any other."""
        if call.reuse_s is not None:
            number, until = next(self._state.job_numbers), now + call.reuse_s
            whole = replace(
                job,
                number=number,
                place=call.places[0],
                call=None,
                result=result,
                expires_at=until,
                earlier=True,
                admitted=None,
                cost=0.0,
                bytes=None,
                cpu_s=None,
                commits_at=None,
            )
            yield from self.keep(whole, now)

    def keep(self, answer: Job, now: float) -> Iterator[Command]:
        """Keep an answer for later calls, if it may serve any and is not too big."""
        fits = answer.result is not None and len(answer.result.body) <= self._state.limits.result_bytes
        if fits and not self._jobs.stale(answer) and self._state.ledger.at(answer.place) is None:
            for loser in self._state.ledger.keep(answer):
                yield from self._jobs.drop(loser, Why.NO_ROOM, now)

    def _reads(self, call: Call) -> frozenset[str]:
        return self._state.policy.rule_for(call.invocation).read_by(call.places[0][0], call.invocation)
