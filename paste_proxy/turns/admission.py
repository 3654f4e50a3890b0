"""The pre-engine admission queue of one engine (PASTE 4.3): a state machine without I/O.

A turn goes to the engine at once while the pressure is below `P_low`. Inside the band the queue refills the engine as
turns end, strictly in the order of priority: a turn that does not fit keeps its place, or those that ask for little
would always be before it. Above `P_high` nothing goes, but for turns that have waited as long as any may.

Sessions that have not begun wait while those under way fill the engine: many half done sessions help nobody. Once so
few wait that they could all begin while one runs, they begin in turns with the others, lest the last of them end
alone. Where those under way are too few to fill it, but for several turns of one at once, all are alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import assert_never

from paste_proxy.turns.band import Band
from paste_proxy.turns.batch import Batch
from paste_proxy.turns.priority import Order, service_s
from paste_proxy.turns.queue import Held, Queue
from paste_proxy.turns.speeds import Speeds
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
    TurnFacts,
    TurnOver,
    TurnPlaced,
    TurnReady,
    TurnWrites,
)
from paste_proxy.turns.under_way import UnderWay
from paste_proxy.turns.window import Window

_FEW = 0.7
"""So many sessions wait to begin, of those under way, that all of them could while one runs."""
_LARGE = 0.25
"""Share of the bound that a turn counts as at most: so much room is there every now and then."""
_WAITS = 8
"""So many make an average."""
_KV_FULL = 0.95
"""Share of the engine's cache beyond which it would have to throw turns out again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What holds whatever the load is."""

    longest_s: float = 120.0
    """No turn of a session under way waits longer."""
    begins_s: float = 600.0
    """Nor does the first turn of one that is not."""
    away_s: float = 600.0
    """A session of which nothing was heard for so long is not expected back."""


class Admission:
    """All turns of one engine that are ready or running.

    Args:
        band: what the pressure is kept in.
        order: who goes first.
        gamma: weight of contexts in the pressure, against the number of turns; None: it is learned.
        gates: whether sessions that have not begun wait while those under way fill the engine.
    """

    def __init__(
        self, band: Band, order: Order, *, gamma: float | None = None, bounds: Bounds | None = None, gates: bool = True
    ) -> None:
        self._band, self._order, self._bounds, self._gates = band, order, bounds or Bounds(), gates
        self._batch, self._speeds, self._window = Batch(gamma or 0.0), Speeds(), Window()
        self._gamma = gamma
        self._new, self._known = Queue(), Queue()
        """Turns of sessions that have not begun, and of those that have."""
        self._under_way = UnderWay(self._bounds.away_s)
        self._sessions: dict[int, str] = {}
        """Of turns that are in `under_way`."""
        self._sent: dict[int, TurnFacts] = {}
        """Turns that were admitted, and whose answers have not begun."""
        self._writing: set[int] = set()
        """Those whose answers have."""
        self._began_last = False
        """What was admitted last was a new session."""
        self._waits_s = 0.0
        """What turns waited that had to, of late."""
        self._now: float | None = None

    @property
    def pressure(self) -> float:
        """EnginePressure now, in average turns."""
        return self._batch.pressure

    @property
    def band(self) -> Band:
        """What it is kept in."""
        return self._band

    @property
    def held(self) -> int:
        """Turns that wait."""
        return len(self._new) + len(self._known)

    def takes_at_once(self, facts: TurnFacts) -> bool:
        """Whether there is room below `P_low`, where no turn is held, whoever's it is."""
        return not self.held and self._batch.pressure + self._batch.share(facts) <= self._band.low

    def load_s(self, facts: TurnFacts) -> float:
        """LLMPressure of a turn: seconds that the engine will need for it, times its share of the batch."""
        return service_s(facts, self._speeds) * self._batch.share(facts)

    def step(self, told: Told, now: float) -> list[Command]:
        """Take what happened at `now`, return what to do. `now` never goes back."""
        self._pass(now)
        match told:
            case TurnReady():
                self._ready(told, now)
            case TurnPlaced():
                self._placed(told.turn, told.facts, now)
            case TurnOver():
                self._over(told.turn, now)
            case SessionOver():
                self._under_way.over(told.session)
            case TurnWrites():
                self._writes(told.turn)
            case Produced():
                self._produced(told, now)
            case Measured():
                self._batch.measured(told.load)
                if told.load is not None:
                    self._band.measured(told.load, now)
            case Limited() | Tick():
                pass
            case _:
                assert_never(told)
        return [*self._late(now), *self._fill(now)]

    def next_deadline(self) -> float | None:
        """When a `Tick` is due, if nothing else is told before."""
        soonest = [held.until for queue in (self._new, self._known) if (held := queue.soonest()) is not None]
        return min(soonest, default=None)

    def _pass(self, now: float) -> None:
        seconds = 0.0 if self._now is None else now - self._now
        batch = self._batch
        self._window.passed(seconds, batch.pressure, len(self._writing), batch.tokens, wanted=self.held > 0)
        self._now = now

    def _writes(self, turn: int) -> None:
        sent = self._sent.pop(turn, None)
        if sent is not None:
            self._writing.add(turn)
            self._window.prompts += max(0.0, sent.prompt_tokens - sent.cached_tokens)

    def _produced(self, told: Produced, now: float) -> None:
        self._window.tokens += told.tokens
        if self._window.full:
            window, self._window = self._window, Window()
            self._speeds.learn(window)
            self._band.gave(window, self._speeds, now)
            if self._gamma is None:
                self._batch.gamma = self._speeds.gamma(self._batch.average, window.writing)

    def _ready(self, told: TurnReady, now: float) -> None:
        new = self._gates and not told.facts.turns_before
        bound_s = self._bounds.begins_s if new else self._bounds.longest_s
        patience_s = inf if told.patience_s is None else told.patience_s
        share = self._batch.share(told.facts)
        held = Held(
            turn=told.turn,
            facts=told.facts,
            since=now,
            share=share,
            head_start_s=self._order.head_start_s(told.facts, share, self._speeds),
            until=now + min(bound_s, patience_s),
            impatient=patience_s < bound_s,
        )
        if new:
            self._new.add(held)
        else:
            self._known.add(held)
            self._comes(told.turn, told.facts)

    def _placed(self, turn: int, facts: TurnFacts, now: float) -> None:
        before = self._sessions.get(turn)
        if before is None:
            return
        self._batch.replace(turn, facts)
        if turn in self._sent:
            self._sent[turn] = facts
        self._under_way.gone(before, now)
        self._under_way.over(before)
        self._comes(turn, facts)

    def _comes(self, turn: int, facts: TurnFacts) -> None:
        self._sessions[turn] = facts.session
        self._under_way.come(facts.session)

    def _over(self, turn: int, now: float) -> None:
        for queue in (self._new, self._known):
            queue.pop(turn)
        self._batch.remove(turn)
        self._sent.pop(turn, None)
        self._writing.discard(turn)
        session = self._sessions.pop(turn, None)
        if session is not None:
            self._under_way.gone(session, now)

    def _late(self, now: float) -> Iterator[Command]:
        for queue in (self._known, self._new):
            while (held := queue.soonest()) is not None and held.until <= now:
                if held.impatient:
                    queue.pop(held.turn)
                    self._over(held.turn, now)
                    yield TurnAway(turn=held.turn, retry_after_s=max(held.until - held.since, self._waits_s))
                else:
                    yield self._admit(queue, held, now, late=True)

    def _fill(self, now: float) -> Iterator[Command]:
        while (chosen := self._first()) is not None:
            yield self._admit(*chosen, now)

    def _first(self) -> tuple[Queue, Held] | None:
        """The turn that is to go now."""
        new, known = self._new.first(), self._known.first()
        if new is not None and known is not None and len(self._under_way) < self._band.high:
            first = min((new, self._new), (known, self._known), key=lambda one: one[0].place)
            return first[::-1] if self._has_room(first[0], self._band.high) else None
        few = len(self._new) <= _FEW * len(self._under_way)
        if new is not None and (known is None or (few and not self._began_last)):
            bound = self._band.high if few else self._band.low
            return (self._new, new) if self._has_room(new, bound) else None
        return (self._known, known) if known is not None and self._has_room(known, self._band.high) else None

    def _has_room(self, held: Held, bound: float) -> bool:
        if not len(self._batch):
            return True
        if (self._batch.kv_used or 0.0) >= _KV_FULL:
            return False
        return self._batch.pressure + min(held.share, _LARGE * bound) <= bound

    def _admit(self, queue: Queue, held: Held, now: float, *, late: bool = False) -> Admit:
        queue.pop(held.turn)
        self._began_last = queue is self._new
        if self._began_last:
            self._comes(held.turn, held.facts)
        self._batch.add(held.turn, held.facts)
        self._sent[held.turn] = held.facts
        waited_s = now - held.since
        if waited_s > 0:
            self._waits_s += (waited_s - self._waits_s) / _WAITS
        return Admit(turn=held.turn, waited_s=waited_s, late=late)
