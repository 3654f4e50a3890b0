"""Keeps all turns of one key within the limits that its answers tell of, so that fleets do not collide.

Nothing waits while no limit is known, or while enough is left. Else turns wait until enough is refilled for the first
of them, strictly in the order in which they came, and none longer than any may: then it goes, and the service decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import assert_never

from paste_proxy.turns.queue import Held, Queue
from paste_proxy.turns.rate_bucket import ALMOST_S, Bucket, Charge
from paste_proxy.turns.rate_costs import Costs
from paste_proxy.turns.rate_pause import Pause
from paste_proxy.turns.types import (
    Admit,
    Command,
    Limited,
    Measured,
    Produced,
    SessionOver,
    Tick,
    Told,
    TurnAway,
    TurnOver,
    TurnPlaced,
    TurnReady,
    TurnWrites,
)

_OUTPUT = 3
"""Of the limits, the one of what is written: it is counted as it is written, the others when a turn is sent."""
_MOST_SENT = 10_000
_LATER_S = 1e-3
"""A deadline is so much late, rather than early by a rounding."""
_LEAST_AWAY_S = 1.0


@dataclass(slots=True)
class _Sent:
    """A turn that went."""

    at: float
    costs: Sequence[float]
    """Of each limit."""
    answered_at: float | None = None
    """When its answer began."""
    over_at: float = inf

    def charge(self, of: int) -> Charge:
        """What it takes of a limit."""
        if of == _OUTPUT:
            return Charge(self.at, self.costs[of], self.over_at)
        counted = self.at + ALMOST_S
        if self.answered_at is not None:
            counted = min(counted, self.answered_at)
        return Charge(self.at, self.costs[of], counted, self.answered_at)


class RateGate:
    """All turns of one key.

    Args:
        longest_s: no turn waits longer.
    """

    def __init__(self, *, longest_s: float = 120.0) -> None:
        self._longest_s = longest_s
        self._buckets = [Bucket() for _ in range(4)]
        """Of requests, of tokens in all, of prompts, of answers."""
        self._costs, self._pause, self._queue = Costs(), Pause(), Queue()
        self._sent: dict[int, _Sent] = {}
        """In order; one that is over only as long as an answer may come that has not counted it."""

    @property
    def held(self) -> int:
        """Turns that wait."""
        return len(self._queue)

    def step(self, told: Told, now: float) -> list[Command]:
        """See `Gate`."""
        match told:
            case TurnReady():
                self._ready(told, now)
            case TurnWrites():
                self._served(told.turn)
            case TurnOver():
                self._over(told.turn, now)
            case Limited():
                self._limited(told, now)
            case TurnPlaced() | SessionOver() | Produced() | Measured() | Tick():
                pass
            case _:
                assert_never(told)
        return [*self._late(now), *self._fill(now)]

    def next_deadline(self) -> float | None:
        """See `Gate`."""
        first, soonest = self._queue.first(), self._queue.soonest()
        if first is None or soonest is None:
            return None
        return min(soonest.until, self._when(first) + _LATER_S)

    def _ready(self, told: TurnReady, now: float) -> None:
        patience_s = inf if told.patience_s is None else told.patience_s
        self._queue.add(
            Held(
                turn=told.turn,
                facts=told.facts,
                since=now,
                share=0.0,
                head_start_s=0.0,
                until=now + min(self._longest_s, patience_s),
                impatient=patience_s < self._longest_s,
            )
        )

    def _served(self, turn: int) -> None:
        sent = self._sent.get(turn)
        if sent is not None:
            self._pause.served(sent.at)

    def _limited(self, told: Limited, now: float) -> None:
        sent, limits = self._sent.get(told.turn), told.limits
        if sent is None:
            return
        sent.answered_at = now
        if limits.refused:
            del self._sent[told.turn]
            self._costs.refused(sent.at, now)
            self._pause.refused(told.turn, limits.retry_after_s, now)
        else:
            self._pause.served(sent.at)
            self._costs.served()
        said = (limits.requests, limits.tokens, limits.input_tokens, limits.output_tokens)
        for of, (bucket, allowance) in enumerate(zip(self._buckets, said, strict=True)):
            bucket.told(allowance, sent.at, now)
            bucket.recount((one.charge(of) for one in self._sent.values()), now)

    def _over(self, turn: int, now: float) -> None:
        self._queue.pop(turn)
        self._pause.over(turn)
        if turn in self._sent:
            self._sent[turn].over_at = now
            self._forget()

    def _forget(self) -> None:
        """Turns that are over, and counted in what is known or yet to be told."""
        told_of = min((bucket.told_of for bucket in self._buckets if bucket.told_of > -inf), default=None)
        if told_of is None:
            unanswered = (one.at for one in self._sent.values() if one.answered_at is None and one.over_at == inf)
            told_of = next(unanswered, inf)
        self._sent = {turn: one for turn, one in self._sent.items() if one.over_at > told_of - ALMOST_S}

    def _late(self, now: float) -> Iterator[Command]:
        while (held := self._queue.soonest()) is not None and held.until <= now:
            if held.impatient:
                first = self._queue.first()
                assert first is not None
                away_s = min(max(self._when(first) - now, _LEAST_AWAY_S), self._longest_s)
                self._queue.pop(held.turn)
                yield TurnAway(turn=held.turn, retry_after_s=away_s)
            else:
                yield self._admit(held, now, late=True)

    def _fill(self, now: float) -> Iterator[Command]:
        while (first := self._queue.first()) is not None and self._may(first, now):
            yield self._admit(first, now)

    def _may(self, held: Held, now: float) -> bool:
        return self._pause.lets(now) and all(
            bucket.has(cost, now) for bucket, cost in zip(self._buckets, self._costs.of(held.facts), strict=True)
        )

    def _when(self, held: Held) -> float:
        enough = (bucket.when(cost) for bucket, cost in zip(self._buckets, self._costs.of(held.facts), strict=True))
        return max(self._pause.when(), *enough)

    def _admit(self, held: Held, now: float, *, late: bool = False) -> Admit:
        self._queue.pop(held.turn)
        costs = self._costs.of(held.facts)
        for bucket, cost in zip(self._buckets, costs, strict=True):
            bucket.take(cost, now)
        self._pause.sent(held.turn)
        self._sent[held.turn] = _Sent(now, costs)
        if len(self._sent) > _MOST_SENT:
            del self._sent[next(iter(self._sent))]
        return Admit(turn=held.turn, waited_s=now - held.since, late=late)
