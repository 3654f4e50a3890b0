"""From predictions to speculative jobs (PASTE 4.2, admission and priority).

Candidates are launched greedily by utility, one a place, while nothing they read is being written and
the budget has room; a clearly better one takes the place of the least useful running job.
"""

from collections.abc import Iterator
from dataclasses import replace

from paste_proxy.events.candidate import SEALED, Candidate
from paste_proxy.events.invocation import server_of
from paste_proxy.events.types import Why
from paste_proxy.speculation.admission import CLEARLY_BETTER, Admit, admit
from paste_proxy.speculation.budgets.budgets import Charge, Refusal
from paste_proxy.speculation.jobs import Jobs
from paste_proxy.speculation.lanes import obstacles
from paste_proxy.speculation.ledger import Job, Place
from paste_proxy.speculation.narrowing import Narrowing, later
from paste_proxy.speculation.policy import Ruling
from paste_proxy.speculation.rehearsing import Rehearsing, apart, real
from paste_proxy.speculation.rules import Effect
from paste_proxy.speculation.state import State
from paste_proxy.speculation.types import Command, Launch, Mode, Narrowed, Predicted, Reason, Refused
from paste_proxy.speculation.waiting import PATIENCE_S, Waiter

_PASSING = (Reason.BUDGET, Reason.WRITE_IN_FLIGHT)


class Launching:
    """Launches what is worth it."""

    def __init__(self, state: State, jobs: Jobs) -> None:
        self._state, self._jobs = state, jobs
        self._waiting = state.waiting
        self._narrowing = Narrowing(state, jobs)
        self._rehearsing = Rehearsing(state, jobs)
        self._tried = 0
        """The state's `vacancies` when those waiting were tried last: trying costs every call its time."""

    def predicted(self, told: Predicted, now: float) -> Iterator[Command]:
        """Launch or refuse each candidate; one that only lacks room is refused for now and tried again."""
        if self._state.mode is Mode.OFF:
            return
        admitted, rehearsals = list[Admit](), list[Admit]()
        for candidate in told.candidates:
            ruling = self._state.policy.rule_for(candidate.invocation)
            decision = self._admission(told, candidate, ruling)
            if isinstance(decision, Admit):
                admitted.append(decision)
            else:
                yield _refused(told, candidate, ruling, Refusal(decision))
                if rehearsal := self._rehearsing.admitted(told, candidate, ruling, decision):
                    rehearsals.append(rehearsal)
        admitted.sort(key=lambda admit: (admit.worth.utility, admit.worth.benefit_s), reverse=True)
        for rank, chosen in enumerate(admitted):
            obstacle = self._obstacle(told, chosen, rank, now)
            if isinstance(obstacle, Refusal):
                if obstacle.reason in _PASSING and rank < self._state.limits.candidates:
                    self._wait(told, chosen, now + PATIENCE_S)
                yield _refused(told, chosen.candidate, chosen.ruling, obstacle)
                continue
            if obstacle is not None:
                yield from self._jobs.drop(obstacle, Why.BETTER, now)
            yield from self._launch(told, chosen, now)
        for rank, chosen in enumerate(rehearsals, len(admitted)):
            if self._obstacle(apart(told), chosen, rank, now) is None:
                yield from self._launch(apart(told), chosen, now)

    def narrowed(self, told: Narrowed, now: float) -> Iterator[Command]:
        """A call is being written: what it rules out makes room for what it makes likely."""
        yield from self._narrowing.narrowed(told, now)
        for predicted in told.newly:
            yield from self.predicted(predicted, now)

    def room(self, now: float) -> Iterator[Command]:
        """Something ended: launch those waiting that now find room, the most useful first."""
        self._state.writes.settle(now)
        if not self._waiting or self._tried == self._state.vacancies:
            return
        self._tried = self._state.vacancies
        full: set[tuple[str, bool]] = set()
        for place, waiter in self._waiting.by_utility(now):
            admit = waiter.admit
            slots = server_of(admit.candidate.invocation.tool), admit.shadow
            if slots in full:
                continue
            if self._is_full(*slots):
                full.add(slots)
                continue
            told = Predicted(session=waiter.session, scope=waiter.scope, candidates=(admit.candidate,))
            if self._is_known(told, admit.candidate):
                self._waiting.drop(place)
            elif self._obstacle(told, admit, 0, now) is None:
                self._waiting.drop(place)
                yield from self._launch(told, admit, now)

    @property
    def crowded(self) -> bool:
        """Whether something waits for room."""
        slots = {(server_of(one.admit.candidate.invocation.tool), one.admit.shadow) for one in self._waiting}
        return any(self._is_full(*each) for each in slots)

    def forget(self, session: str | None) -> None:
        """A session, or everything, is over: nothing of it waits any more."""
        self._waiting.forget(session)

    def _wait(self, told: Predicted, admit: Admit, until: float) -> None:
        self._waiting.add(self._place(told, admit.candidate), Waiter(told.session, told.scope, admit, until))

    def _place(self, told: Predicted, candidate: Candidate) -> Place:
        return self._state.matching.place(told.session, told.scope, candidate.invocation)

    def _job_for(self, told: Predicted, candidate: Candidate) -> Job | None:
        """The job that a call for the candidate would be answered from."""
        match = self._state.matching.find(told.session, told.scope, candidate.invocation)
        return match.job if match is not None and not match.late else None

    def _is_known(self, told: Predicted, candidate: Candidate) -> bool:
        if self._state.asked[self._place(told, candidate)]:
            return True
        return self._job_for(told, candidate) is not None

    def _admission(self, told: Predicted, candidate: Candidate, ruling: Ruling) -> Admit | Reason:
        worth = self._state.experience.worth(candidate, ruling)
        known = self._job_for(told, candidate)
        if known is not None:
            known.utility = max(known.utility, worth.utility)
            known.likely = max(known.likely, candidate.confidence)
            known.later = max(known.later, later(candidate))
        if self._is_known(told, candidate):
            return Reason.DUPLICATE
        return admit(candidate, ruling, worth, self._state.limits, self._state.mode)

    def _obstacle(self, told: Predicted, chosen: Admit, rank: int, now: float) -> Refusal | Job | None:
        """Why the candidate cannot run, or the running job that has to make room for it."""
        if self._job_for(told, chosen.candidate) is not None:
            return Refusal(Reason.DUPLICATE)
        if rank >= self._state.limits.candidates:
            return Refusal(Reason.BUDGET, "speculation.candidates")
        rests_on = chosen.ruling.rests_on(told.session, chosen.candidate.invocation)
        begun = chosen.rehearsal is not None and chosen.candidate.source == SEALED  # the write is its own call's
        if not begun and self._state.writes.of(staged=chosen.ruling.staged).dirty(rests_on, now):
            return Refusal(Reason.WRITE_IN_FLIGHT)
        running = self._state.ledger.running(shadow=chosen.shadow)
        budgets = self._state.budgets_of(shadow=chosen.shadow)
        if refusal := budgets.refusal(_charge(told, chosen), len(running), now):
            return refusal
        server = server_of(chosen.candidate.invocation.tool)
        in_the_way = obstacles(self._state.lane(server), running, self._state.limits.slots)
        if in_the_way is None:
            return None
        weakest = min(in_the_way, key=lambda job: job.utility, default=None)
        if weakest is None or chosen.worth.utility < CLEARLY_BETTER * weakest.utility:
            full = in_the_way is running
            return Refusal(Reason.BUDGET, "speculation.slots" if full else f'capacity."{server}".speculative')
        return weakest

    def _is_full(self, server: str, shadow: bool) -> bool:
        """Whether nothing may start there, whatever it is."""
        running = self._state.ledger.running(shadow=shadow)
        return obstacles(self._state.lane(server), running, self._state.limits.slots) is not None

    def _launch(self, told: Predicted, chosen: Admit, now: float) -> Iterator[Command]:
        candidate, ruling = chosen.candidate, chosen.ruling
        runs = candidate if chosen.rehearsal is None else replace(candidate, invocation=chosen.rehearsal)
        budgets = self._state.budgets_of(shadow=chosen.shadow)
        job = Job(
            number=next(self._state.job_numbers),
            place=self._place(told, candidate),
            invocation=runs.invocation,
            rehearses=None if chosen.rehearsal is None else candidate.invocation,
            source=candidate.source,
            confidence=candidate.confidence,
            utility=chosen.worth.utility,
            expected_s=chosen.worth.expected_s,
            reads=ruling.rests_on(told.session, candidate.invocation),
            epoch=self._state.writes.of(staged=ruling.staged).epoch,
            started_at=now,
            expires_at=now + (self._state.limits.ttl_s if ruling.ttl_s is None else ruling.ttl_s),
            shadow=chosen.shadow,
            staged=ruling.staged,
            likely=candidate.confidence,
            later=later(candidate),
            rule=ruling.place,
            admitted=chosen.worth,
            cost=budgets.cost(ruling.place),
        )
        self._state.ledger.add(job)
        budgets.launched(_charge(told, chosen), now)
        if not job.shadow:
            yield Launch(
                job=job.number,
                session=told.session,
                candidate=runs,
                scope=real(told.scope),
                staged=job.staged,
                rehearsal=job.rehearses is not None,
            )


def _charge(told: Predicted, chosen: Admit) -> Charge:
    candidate = chosen.candidate
    return Charge(
        tool=candidate.invocation.tool,
        session=told.session,
        rule=chosen.ruling.place,
        sealed=candidate.source == SEALED,
    )


def _refused(told: Predicted, candidate: Candidate, ruling: Ruling, why: Refusal) -> Refused:
    return Refused(
        session=told.session,
        invocation=candidate.invocation,
        source=candidate.source,
        reason=why.reason,
        confidence=candidate.confidence,
        limit=why.limit,
        rule=ruling.place,
        writes=ruling.effect is Effect.WRITE,
    )
