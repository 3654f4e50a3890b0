"""Which job answers a call: one that runs the same, or one that runs the core of it.

A job stands in the place of the plain form of what it runs. A call is answered from its own place, or from its
core's with what `Sameness.derived` makes of the result there.
"""

from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.ledger import Job, Ledger, Place
from paste_proxy.speculation.policy import Policy


@dataclass(frozen=True, slots=True)
class Match:
    """A job that answers a call."""

    job: Job
    result: ToolResult | None = None
    """The answer; None while the job runs, or if it is a shadow."""
    late: bool = False
    """The job runs, and the call may be answered sooner than it ends: it does not wait for it."""


class Matching:
    """Finds the jobs of calls."""

    def __init__(self, policy: Policy, ledger: Ledger) -> None:
        self._policy, self._ledger = policy, ledger

    def place(self, session: str, scope: str, invocation: Invocation) -> Place:
        """Where a job that runs this stands, and where a call for this looks first."""
        plain = self._policy.rule_for(invocation).same.plain(invocation)
        return session, scope, plain.key

    def find(self, session: str, scope: str, invocation: Invocation) -> Match | None:
        """The unpromoted job that a call for this is to be answered from, or would be if it were done."""
        own = self.place(session, scope, invocation)
        job = self._ledger.at(own)
        if job is not None:
            return Match(job, job.result)
        same = self._policy.rule_for(invocation).same
        place = (session, scope, same.core(invocation).key)
        job = self._ledger.at(place) if place != own else None
        if job is None or (job.staged and not same.does_all(invocation, job.result)):
            return None
        if job.result is None:
            return Match(job, late=job.ended_at is None and not same.promising(invocation, job.expected_s))
        result = same.derived(invocation, job.invocation, job.result, job.ran_s(job.started_at))
        return None if result is None else Match(job, result)

    def answer(self, invocation: Invocation, job: Job, result: ToolResult, now: float) -> ToolResult | None:
        """What the result of a job that ends now is to the call that waited for it; None if it does not answer it."""
        same = self._policy.rule_for(invocation).same
        return same.derived(invocation, job.invocation, result, job.ran_s(now))
