"""What is still likely once it is known which call the LLM is writing.

A candidate that the call cannot come to be keeps the part of its probability that does not rest on this
call: that it is asked for later, or by a further call of the same turn. What falls below the least confidence
goes, running or waiting; what stays ranks by what is left. A finished result has cost all it can and stays.
"""

from collections.abc import Iterator
from dataclasses import replace

from paste_proxy.events.candidate import SEALED, Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.types import Why
from paste_proxy.speculation.admission import least_confidence
from paste_proxy.speculation.jobs import Jobs
from paste_proxy.speculation.ledger import Job
from paste_proxy.speculation.state import State
from paste_proxy.speculation.types import Command, Narrowed
from paste_proxy.speculation.waiting import Waiter

_LATER_SHARE = 0.3
"""Of a candidate's probability, where its predictor does not say: of what is asked for at all, recorded agents ask
for about two thirds at once."""


class Narrowing:
    """Revises the unpromoted running jobs of a session and its candidates that wait."""

    def __init__(self, state: State, jobs: Jobs) -> None:
        self._state, self._jobs = state, jobs

    def narrowed(self, told: Narrowed, now: float) -> Iterator[Command]:
        """Preempt and drop what is too unlikely now."""
        outline = self._cored(told.outline)
        for shadow in (False, True):
            for job in self._state.ledger.running(shadow=shadow):
                if job.session == told.session and not outline.allows(job.meant):
                    yield from self._revise(job, told.more, now)
        self._state.waiting.revise(lambda waiter: _revised(waiter, told, outline, self._least(waiter)))

    def _cored(self, outline: Outline) -> Outline:
        """The outline in the form of candidates, which says nothing of an argument that makes no difference."""
        core = self._state.policy.core(Invocation(outline.tool, outline.known))
        return Outline(core.tool, core.arguments, whole=outline.whole)

    def _revise(self, job: Job, more: float, now: float) -> Iterator[Command]:
        left = _left(job.likely, job.later, more)
        job.utility *= left / job.likely if job.likely else 0.0
        job.likely = left
        if left < least_confidence(self._state.policy.rule_for(job.meant), self._state.limits):
            yield from self._jobs.drop(job, Why.UNLIKELY, now)

    def _least(self, waiter: Waiter) -> float:
        return least_confidence(waiter.admit.ruling, self._state.limits)


def later(candidate: Candidate) -> float:
    """The part of a candidate's probability that does not rest on the very next call: all of it, where the turn has
    asked for it already."""
    if candidate.later is not None:
        return candidate.later
    whole = candidate.source == SEALED or candidate.depth > 1
    return candidate.confidence * (1.0 if whole else _LATER_SHARE)


def _left(likely: float, later: float, more: float) -> float:
    return later + max(0.0, likely - later) * more


def _revised(waiter: Waiter, told: Narrowed, outline: Outline, least: float) -> Waiter | None:
    candidate, worth = waiter.admit.candidate, waiter.admit.worth
    if waiter.session != told.session or outline.allows(candidate.invocation):
        return waiter
    left = _left(candidate.confidence, later(candidate), told.more)
    if left < least:
        return None
    share = left / candidate.confidence
    worth = replace(worth, benefit_s=worth.benefit_s * share, utility=worth.utility * share)
    candidate = replace(candidate, confidence=left, later=later(candidate))
    return replace(waiter, admit=replace(waiter.admit, candidate=candidate, worth=worth))
