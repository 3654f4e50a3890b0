"""Calls that may not be run ahead, run in a changed form for what that leaves ready (PASTE 3.2 and 4.2: a non-mutating
variant of a tool with side effects).

A rehearsal is a job like any other: it takes a slot, is charged to the budgets, gives way, and is cancelled when the
session ends or something is written that its call reads or writes. But it stands in a place where no call looks, so its
result answers nobody, not even a call of its own form; it is thrown away. When the call comes that it was for, it is
over.
"""

from collections.abc import Iterator
from dataclasses import replace

from paste_proxy.events.candidate import SEALED, Candidate
from paste_proxy.events.invocation import server_of
from paste_proxy.events.types import Why
from paste_proxy.speculation.admission import Admit, admit
from paste_proxy.speculation.jobs import Jobs
from paste_proxy.speculation.policy import Ruling
from paste_proxy.speculation.state import State
from paste_proxy.speculation.types import Asked, Command, Predicted, Reason

_APART = "#rehearsed"
"""Added to the scope of a call for the place of its rehearsal."""
_FORBIDDEN = (Reason.POLICY, Reason.APPROVAL)


def apart(told: Predicted) -> Predicted:
    """A prediction as one of the place where rehearsals stand."""
    return replace(told, scope=told.scope + _APART)


def real(scope: str) -> str:
    """Through whose connection a rehearsal, or any other job, is run."""
    return scope.removesuffix(_APART)


class Rehearsing:
    """Admits rehearsals, and ends them when their call comes."""

    def __init__(self, state: State, jobs: Jobs) -> None:
        self._state, self._jobs = state, jobs
        self._any = any(rule.rehearse is not None for rule in state.policy.rules)

    def admitted(self, told: Predicted, candidate: Candidate, ruling: Ruling, refused: Reason) -> Admit | None:
        """The rehearsal of a candidate that was refused; None: there is none, or it is not worth it."""
        rule = ruling.rule
        if refused not in _FORBIDDEN or rule is None or rule.rehearse is None:
            return None
        if candidate.source == SEALED and not ruling.approval:  # it comes now, unless a person is asked first
            return None
        worth = replace(self._state.experience.worth(candidate, ruling), utility=0.0)  # it gives way to everything
        allowed = replace(ruling, allowed=True, approval=False, reads=ruling.reads | ruling.writes)
        decision = admit(candidate, allowed, worth, self._state.limits, self._state.mode)
        if not isinstance(decision, Admit) or decision.shadow:
            return None
        invocation = candidate.invocation
        if server_of(invocation.tool) and not self._state.policy.takes(invocation.tool, rule.rehearse.arguments):
            return None
        form = rule.rehearse.of(invocation, rule.conditions, rule.same)
        return None if form is None else replace(decision, rehearsal=form)

    def asked(self, told: Asked, now: float) -> Iterator[Command]:
        """The agent asks for a call: its rehearsal has done what it could."""
        if not self._any:
            return
        match = self._state.matching.find(told.session, told.scope + _APART, told.invocation)
        if match is not None:
            yield from self._jobs.drop(match.job, Why.SLOT if match.job.ended_at is None else Why.REHEARSED, now)
