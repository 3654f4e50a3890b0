"""The Tool Speculation Scheduler: what to run ahead, what to serve, what to stop (PASTE 3.3.2 and 4.2).

Two rules hold at every step. An authoritative call is run or served exactly when, and with exactly what,
it could have had without speculation, or sooner. A speculative result reaches a call only if nothing it
depends on can have changed since its job started.
"""

from collections.abc import Iterator, Mapping
from typing import assert_never

from paste_proxy.speculation.budgets.budgets import NO_BUDGET, BudgetLimits, Budgets
from paste_proxy.speculation.calls import Calls
from paste_proxy.speculation.domains import EVERYTHING
from paste_proxy.speculation.jobs import Jobs
from paste_proxy.speculation.launching import Launching
from paste_proxy.speculation.limits import ServerCapacity, SpeculationLimits
from paste_proxy.speculation.outside import Outside, OutsideWrites
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.state import State
from paste_proxy.speculation.types import (
    Asked,
    CallEnded,
    Command,
    Committed,
    EffectBegan,
    EffectEnded,
    JobEnded,
    JobSent,
    JobWaits,
    Mode,
    Narrowed,
    ObservationLost,
    Predicted,
    SessionEnded,
    Settled,
    Tick,
    Today,
    Told,
)


class Scheduler:
    """The state machine of all sessions' tool calls.

    Args:
        policy: which tools may be run ahead, and their effects.
        limits: bounds of the speculative work.
        mode: how far to go; `off` still queues calls for servers of limited capacity.
        capacities: slots by server name, the empty name for tools that no server owns.
        budget: what all that is run ahead may cost, beside what the policy's rules say.
    """

    def __init__(
        self,
        policy: Policy,
        limits: SpeculationLimits,
        mode: Mode,
        capacities: Mapping[str, ServerCapacity],
        budget: BudgetLimits = NO_BUDGET,
    ) -> None:
        self._state = State(policy, limits, mode, capacities, budget)
        self._jobs = Jobs(self._state)
        self._launching = Launching(self._state, self._jobs)
        self._calls = Calls(self._state, self._jobs)
        self._outside = OutsideWrites()

    def step(self, told: Told, now: float) -> list[Command]:
        """Take what happened at `now`; return what to do, in order. `now` never goes back."""
        commands = [*self._jobs.time_passed(now), *self._react(told, now), *self._launching.room(now)]
        for command in commands:
            if isinstance(command, Settled):
                self._state.settled(command, now)
        return commands

    @property
    def budgets(self) -> Budgets:
        """What running ahead has cost."""
        return self._state.budgets

    @property
    def crowded(self) -> bool:
        """Whether more is predicted than there is room for, so that no guess on top of guesses is worth its making."""
        return self._launching.crowded

    def next_deadline(self) -> float | None:
        """When a `Tick` is due, if nothing else is told before."""
        return self._state.ledger.next_expiry()

    def _react(self, told: Told, now: float) -> Iterator[Command]:
        match told:
            case Predicted():
                return self._launching.predicted(told, now)
            case Narrowed():
                return self._launching.narrowed(told, now)
            case Asked() | CallEnded() | JobEnded() | Committed():
                return self._calls.step(told, now)
            case JobWaits(job=number) | JobSent(job=number):
                self._state.ledger.waits(number, isinstance(told, JobWaits))
            case EffectBegan():
                return self._effect_began(told, now)
            case EffectEnded():
                if (over := self._outside.ended(told.session, told.call_id)) is not None:
                    self._state.writes.ended(over.writes, held=over.held)
            case SessionEnded():
                return self._session_ended(told, now)
            case ObservationLost():
                return self._observation_lost(now)
            case Today(day):
                self._state.budgets.book.turn(day, now)
                self._state.shadow_budgets.book.turn(day, now)
            case Tick():
                pass
            case _:
                assert_never(told)
        return iter(())

    def _effect_began(self, told: EffectBegan, now: float) -> Iterator[Command]:
        ruling = self._state.policy.rule_for(told.invocation)
        writes = ruling.written_by(told.session, told.invocation)
        if told.or_else is not None and self._state.policy.of_tool(told.or_else.tool).named:
            other = self._state.policy.rule_for(told.or_else)
            writes |= other.written_by(told.session, told.or_else)
        if writes:
            self._state.writes.began(writes, held=told.held)
            given_up = self._outside.began(told.session, told.call_id, Outside(writes, told.held))
            if given_up is not None:
                self._unseen(given_up, now)
            yield from self._jobs.void(now)

    def _session_ended(self, told: SessionEnded, now: float) -> Iterator[Command]:
        self._launching.forget(told.session)
        for call in self._outside.forget(told.session):
            self._unseen(call, now)
        yield from self._jobs.discard(told.session, now)

    def _observation_lost(self, now: float) -> Iterator[Command]:
        self._launching.forget(None)
        for call in self._outside.forget_all():
            self._unseen(call, now)
        self._state.writes.linger((EVERYTHING,), now)
        yield from self._jobs.discard(None, now)

    def _unseen(self, call: Outside, now: float) -> None:
        """The end of a write outside will not be seen."""
        self._state.writes.linger(call.writes, now, held=call.held)
        self._state.writes.ended(call.writes, held=call.held)
