"""The pre-engine admission queue of one engine (PASTE 4.3): a state machine without I/O.

A turn goes to the engine at once while the pressure is below `P_low`. Inside the band the queue refills the engine as
turns end, the turn of highest priority first; sessions that have not begun wait while those under way fill it. Above
`P_high` nothing goes, but for turns that have waited as long as any may.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import assert_never

from paste_proxy.turns.band import Band
from paste_proxy.turns.batch import Batch
from paste_proxy.turns.priority import Priority, Speeds
from paste_proxy.turns.types import (
    Admit,
    Command,
    Measured,
    Produced,
    SessionOver,
    Tick,
    Told,
    TurnAway,
    TurnFacts,
    TurnOver,
    TurnReady,
)

_AWAY = 0.5
"""Of the sessions whose tools run, the share that is expected back before a turn that begins now is over."""
_AWAY_AT_MOST = 10_000
_KV_FULL = 0.95
"""Share of the engine's cache beyond which it would have to throw turns out again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What holds whatever the load is."""

    longest_s: float = 120.0
    """No turn waits longer."""
    away_s: float = 600.0
    """A session of which nothing was heard for so long is not expected back."""


@dataclass(slots=True)
class _Held:
    facts: TurnFacts
    since: float
    share: float
    until: float
    impatient: bool
    """It is turned away then."""


class Admission:
    """All turns of one engine that are ready or running.

    Args:
        band: what the pressure is kept in.
        priority: who goes first.
        gamma: weight of contexts in the pressure, against the number of turns.
    """

    def __init__(self, band: Band, priority: Priority, *, gamma: float = 0.5, bounds: Bounds | None = None) -> None:
        self._band, self._priority, self._bounds = band, priority, bounds or Bounds()
        self._batch, self._speeds = Batch(gamma), Speeds()
        self._held: dict[int, _Held] = {}
        self._sessions: dict[int, str] = {}
        """Of turns in the engine."""
        self._away: OrderedDict[str, float] = OrderedDict()
        """Sessions between two turns, and since when; longest first."""
        self._now: float | None = None

    @property
    def pressure(self) -> float:
        """EnginePressure now, in average turns."""
        return self._batch.pressure

    @property
    def held(self) -> int:
        """Turns that wait."""
        return len(self._held)

    def step(self, told: Told, now: float) -> list[Command]:
        """Take what happened at `now`, return what to do. `now` never goes back."""
        self._pass(told.tokens if isinstance(told, Produced) else 0.0, now)
        match told:
            case TurnReady():
                self._ready(told, now)
            case TurnOver():
                self._over(told.turn, now)
            case SessionOver():
                self._away.pop(told.session, None)
            case Measured():
                self._batch.measured(told.load)
                self._band.measured(told.load, now)
            case Produced() | Tick():
                pass
            case _:
                assert_never(told)
        return [*self._late(now), *self._fill(now)]

    def next_deadline(self) -> float | None:
        """When a `Tick` is due, if nothing else is told before."""
        return min((held.until for held in self._held.values()), default=None)

    def _pass(self, tokens: float, now: float) -> None:
        seconds = 0.0 if self._now is None else now - self._now
        self._now = now
        self._band.gave(tokens, self._batch.pressure, seconds, now, wanted=bool(self._held))

    def _ready(self, told: TurnReady, now: float) -> None:
        self._away.pop(told.facts.session, None)
        patience_s = inf if told.patience_s is None else told.patience_s
        longest_s = min(self._bounds.longest_s, patience_s)
        impatient = patience_s < self._bounds.longest_s
        self._held[told.turn] = _Held(told.facts, now, self._batch.share(told.facts), now + longest_s, impatient)

    def _over(self, turn: int, now: float) -> None:
        self._held.pop(turn, None)
        if self._batch.remove(turn):
            session = self._sessions.pop(turn)
            self._away[session] = now
            self._away.move_to_end(session)
        while self._away:
            session, since = next(iter(self._away.items()))
            if len(self._away) <= _AWAY_AT_MOST and now - since < self._bounds.away_s:
                break
            del self._away[session]

    def _late(self, now: float) -> Iterator[Command]:
        for turn in [turn for turn, held in self._held.items() if held.until <= now]:
            if self._held[turn].impatient:
                del self._held[turn]
                yield TurnAway(turn=turn, retry_after_s=self._bounds.longest_s)
            else:
                yield self._admit(turn, now, late=True)

    def _fill(self, now: float) -> Iterator[Command]:
        while self._held and (turn := self._first(now)) is not None:
            yield self._admit(turn, now)

    def _first(self, now: float) -> int | None:
        """The turn that is to go next; None: none may now."""
        pressure = self._batch.pressure
        ranked = [
            (self._priority.of(held.facts, held.share, self._speeds, now - held.since), -held.since, turn)
            for turn, held in self._held.items()
            if self._has_room(held, pressure)
        ]
        return max(ranked)[2] if ranked else None

    def _has_room(self, held: _Held, pressure: float) -> bool:
        if not len(self._batch):
            return True
        if (self._batch.kv_used or 0.0) >= _KV_FULL or pressure + held.share > self._band.high:
            return False
        return pressure < self._band.low or held.facts.turns_before > 0 or not self._filled(held, pressure)

    def _filled(self, held: _Held, pressure: float) -> bool:
        """Whether the sessions under way fill the engine, so that no other should begin."""
        return self._band.found and pressure + _AWAY * len(self._away) + held.share > self._band.high

    def _admit(self, turn: int, now: float, *, late: bool = False) -> Admit:
        held = self._held.pop(turn)
        self._batch.add(turn, held.facts)
        self._sessions[turn] = held.facts.session
        return Admit(turn=turn, waited_s=now - held.since, late=late)
