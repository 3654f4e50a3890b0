"""The gates that turns stand before: what each is told, and what it commands.

A gate is an engine's admission (PASTE 4.3), or keeps the limits of a key. What a turn gains by being served early comes
from what was run ahead for its session: what was saved since its last turn, which waiting would burn, and what may be
hidden behind this one.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import assert_never

from paste_proxy.clock import Clock
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.observed import (
    AnswerBegins,
    AnswerSeen,
    EngineHeard,
    Exchange,
    ExchangeOver,
    LimitsSeen,
    RequestSeen,
    RequestUnread,
)
from paste_proxy.proxy.hub.pacing_tally import GateState, GateTally
from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.speculation.types import Launch, Settled
from paste_proxy.turns.admission import Admission
from paste_proxy.turns.gate import Gate
from paste_proxy.turns.lengths import Lengths
from paste_proxy.turns.prompt_sizes import PromptSizes
from paste_proxy.turns.rate_gate import RateGate
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

_SESSIONS = 10_000
_KEYS = 256
"""Whose limits are remembered while no turn of theirs is under way."""
_MODEL_CHARS = 200
_EXPECTED_S = 1.0
"""Of a tool that nobody has timed."""

OfGate = RequestSeen | RequestUnread | AnswerBegins | AnswerSeen | ExchangeOver | LimitsSeen | EngineHeard


@dataclass(slots=True)
class _Known:
    """What is known of a session."""

    turns: int = 0
    context: float = 0.0
    """Tokens that its last turn left in the engine."""
    saved_s: float = 0.0
    """Tool time saved before its last turn."""
    likely: dict[int, float] = field(default_factory=dict)
    """Seconds likely to be hidden, by job."""


@dataclass(slots=True)
class _Standing:
    """A gate, and the turns before and behind it."""

    gate: Gate
    tally: GateTally
    lengths: Lengths = field(default_factory=Lengths)
    sizes: PromptSizes = field(default_factory=PromptSizes)
    turns: dict[int, Exchange] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)
    """Of these, the ones that wait."""


class PacingDesk:
    """Takes what is seen of turns, in the hub's order.

    Args:
        gates: of engines, by name.
        keys: makes the gate of a key whose limits are kept: of every other name, whose first word is the route's, and
            to which the model is added.
    """

    def __init__(self, gates: Mapping[str, Gate], clock: Clock, keys: Callable[[], Gate] = RateGate) -> None:
        self._tallies: dict[str, GateTally] = {}
        self._engines = {name: _Standing(gate, self.tally(name)) for name, gate in gates.items()}
        self._keys: OrderedDict[str, _Standing] = OrderedDict()
        """By name, the one used last at the end."""
        self._clock, self._gate_of_key = clock, keys
        self._released = False
        self._numbers = count(1)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def handle(self, item: OfGate, session: AgentSession | None = None) -> None:
        """Take one item.

        Args:
            session: the one that the item's exchange belongs to, where it is known.
        """
        if isinstance(item, EngineHeard):
            self._heard(self._engines[item.engine], item)
            return
        waiting = item.exchange.waiting
        if waiting is None:
            return
        if isinstance(item, RequestSeen) and waiting.gate not in self._engines:
            waiting.gate = f"{waiting.gate} {item.reading.request.model[:_MODEL_CHARS]}"  # each has limits of its own
        standing = self._engines.get(waiting.gate) or self._of_key(waiting.gate)
        match item:
            case RequestSeen() | RequestUnread():
                self._ready(standing, item.exchange, session)
            case AnswerBegins():
                self._tell(standing, TurnWrites(turn=item.exchange.number))
            case AnswerSeen():
                self._answered(standing, item, session)
            case ExchangeOver():
                self._over(standing, item.exchange)
            case LimitsSeen():
                self._tell(standing, Limited(turn=item.exchange.number, limits=item.limits))
            case _:
                assert_never(item)

    def enters(self, exchange: Exchange) -> None:
        """Let a turn go that has not been read yet, where its engine has room whoever's it is. Any time; raises nothing
        that the gate does not."""
        waiting = exchange.waiting
        assert waiting is not None
        standing = self._engines.get(waiting.gate)
        if standing is None or not isinstance(standing.gate, Admission):
            return
        facts = self._anyones(standing, waiting.bytes)
        if standing.gate.takes_at_once(facts):
            self._begin(standing, exchange, facts)

    def launched(self, job: Launch) -> None:
        """A call is run ahead."""
        known = self._known.get(job.session)
        if known is not None:
            known.likely[job.job] = job.candidate.confidence * (job.candidate.expected_s or _EXPECTED_S)

    def settled(self, job: Settled) -> None:
        """One has come to its end."""
        known = self._known.get(job.session)
        if known is not None:
            known.likely.pop(job.job, None)

    def session_over(self, session: str) -> None:
        """Nothing was heard of it for long."""
        self._known.pop(session, None)
        for standing in self._engines.values():
            standing.lengths.forget(session)
            self._tell(standing, SessionOver(session=session))

    def tick(self) -> None:
        """Time has passed."""
        for standing in self._all():
            self._tell(standing, Tick())

    def next_deadline(self) -> float | None:
        """When `tick` is due, monotonic."""
        due = [at for standing in self._all() if (at := standing.gate.next_deadline()) is not None]
        return min(due, default=None)

    def release(self) -> None:
        """Nothing will decide any more: every turn that waits goes, and each that comes."""
        self._released = True
        for standing in self._all():
            for number in list(standing.held):
                self._do(standing, Admit(turn=number, waited_s=0.0, late=True))

    def idle(self, name: str) -> bool:
        """Whether a gate's engine has room for more than what is in it, so that nobody waits for what is sent ahead."""
        standing = self._engines.get(name)
        gate = standing.gate if standing is not None else None
        return isinstance(gate, Admission) and not gate.held and gate.pressure + 1 <= gate.band.low

    def busy(self, engine: str) -> bool:
        """Whether turns stand before it or are in it."""
        return bool(self._engines[engine].turns)

    def tally(self, name: str) -> GateTally:
        """The account of an engine, or of a route's keys."""
        return self._tallies.setdefault(name, GateTally())

    def accounts(self) -> Iterator[tuple[str, GateTally, GateState]]:
        """Of each engine, and of the keys of each route together."""
        for name, standing in self._engines.items():
            yield name, standing.tally, _state(standing)
        of_route: dict[str, GateState] = {}
        for name, standing in self._keys.items():
            state, more = of_route.setdefault(_route_of(name), GateState(held=0, running=0)), _state(standing)
            state.held, state.running = state.held + more.held, state.running + more.running
        for route, state in of_route.items():
            yield route, self.tally(route), state

    # --- turns ------------------------------------------------------------------------------------

    def _ready(self, standing: _Standing, exchange: Exchange, session: AgentSession | None) -> None:
        waiting = exchange.waiting
        assert waiting is not None
        facts = (
            self._anyones(standing, waiting.bytes) if session is None else self._facts(standing, session, waiting.bytes)
        )
        if not exchange.number:
            self._begin(standing, exchange, facts)
        elif session is not None:
            self._tell(standing, TurnPlaced(turn=exchange.number, facts=facts))

    def _begin(self, standing: _Standing, exchange: Exchange, facts: TurnFacts) -> None:
        waiting = exchange.waiting
        assert waiting is not None
        exchange.number = next(self._numbers)
        standing.turns[exchange.number] = exchange
        standing.held.add(exchange.number)
        waiting.worth = _worth(standing.gate, facts)
        self._tell(standing, TurnReady(turn=exchange.number, facts=facts, patience_s=waiting.patience_s))
        if self._released:
            self._do(standing, Admit(turn=exchange.number, waited_s=0.0, late=True))

    def _anyones(self, standing: _Standing, request_bytes: int) -> TurnFacts:
        """Of a turn of which nobody knows whose it is. Somebody waits for it."""
        return TurnFacts(
            session=f"beside {next(self._numbers)}",
            prompt_tokens=max(1.0, standing.sizes.expected(request_bytes)),
            output_tokens=standing.lengths.expected(""),
            turns_before=1,
        )

    def _facts(self, standing: _Standing, session: AgentSession, request_bytes: int) -> TurnFacts:
        known, prompt_tokens = self._of(session.id), max(1.0, standing.sizes.expected(request_bytes))
        saved_s, known.saved_s = session.saved_s - known.saved_s, session.saved_s
        turns, known.turns = known.turns, known.turns + 1
        return TurnFacts(
            session=session.id,
            prompt_tokens=prompt_tokens,
            cached_tokens=min(known.context, prompt_tokens),
            output_tokens=standing.lengths.expected(session.id),
            turns_before=turns,
            realized_s=max(0.0, saved_s),
            future_s=sum(known.likely.values()),
            tool_wait_s=session.exposed_s / max(1, turns),
        )

    def _answered(self, standing: _Standing, item: AnswerSeen, session: AgentSession | None) -> None:
        end, exchange = item.end, item.exchange
        assert exchange.waiting is not None
        tokens = exchange.pieces if end.output_tokens is None else end.output_tokens
        self._tell(
            standing, Produced(tokens=_untold(exchange, tokens))
        )  # it may have come whole, or several in a piece
        if end.input_tokens:
            standing.sizes.seen(exchange.waiting.bytes, end.input_tokens)
        if session is None or not tokens:
            return
        standing.lengths.seen(session.id, tokens)
        if end.input_tokens:
            self._of(session.id).context = end.input_tokens + tokens
        if end.complete and not end.calls:
            self._tell(standing, SessionOver(session=session.id))

    def _over(self, standing: _Standing, exchange: Exchange) -> None:
        if standing.turns.pop(exchange.number, None) is None:
            return
        if exchange.number in standing.held:
            standing.held.discard(exchange.number)
            standing.tally.left += 1
        self._tell(standing, TurnOver(turn=exchange.number))

    def _heard(self, standing: _Standing, item: EngineHeard) -> None:
        given = sum(_untold(exchange, exchange.pieces) for exchange in standing.turns.values())
        self._tell(standing, Produced(tokens=given))
        self._tell(standing, Measured(load=item.load))

    def _of(self, session: str) -> _Known:
        known = self._known.get(session)
        if known is None:
            known = self._known[session] = _Known()
            if len(self._known) > _SESSIONS:
                self._known.popitem(last=False)
        return known

    # --- the gates --------------------------------------------------------------------------------

    def _all(self) -> list[_Standing]:
        return [*self._engines.values(), *self._keys.values()]

    def _of_key(self, name: str) -> _Standing:
        standing = self._keys.pop(name, None) or _Standing(self._gate_of_key(), self.tally(_route_of(name)))
        self._keys[name] = standing
        if len(self._keys) > _KEYS:
            unused = (name for name, one in self._keys.items() if not one.turns and one is not standing)
            del self._keys[next(unused, name)]
        return standing

    def _tell(self, standing: _Standing, told: Told) -> None:
        for command in standing.gate.step(told, self._clock.monotonic()):
            self._do(standing, command)

    def _do(self, standing: _Standing, command: Command) -> None:
        exchange = standing.turns.get(command.turn)
        if exchange is None or command.turn not in standing.held:
            return
        standing.held.discard(command.turn)
        match command:
            case Admit():
                exchange.admitted_at = self._clock.monotonic()
                standing.tally.admit(command.waited_s, late=command.late)
            case TurnAway():
                del standing.turns[command.turn]
                standing.tally.turned_away += 1
            case _:
                assert_never(command)
        assert exchange.waiting is not None
        if not exchange.waiting.entry.done():
            exchange.waiting.entry.set_result(command)


def _untold(exchange: Exchange, tokens: int) -> int:
    """How many of these its gate has not been told of, and now is."""
    more = max(0, tokens - exchange.told)
    exchange.told += more
    return more


def _route_of(name: str) -> str:
    return name.partition(" ")[0]


def _worth(gate: Gate, facts: TurnFacts) -> dict[str, Json]:
    """What a scheduler inside the engine goes by; see `engines.vllm_plugin.order`."""
    load_s = gate.load_s(facts) if isinstance(gate, Admission) else 1.0
    return {
        "paste_task": facts.session,
        "paste_gain": round(facts.realized_s + facts.future_s, 3),
        "paste_pressure": round(load_s, 6),
    }


def _state(standing: _Standing) -> GateState:
    gate, held = standing.gate, len(standing.held)
    state = GateState(held=held, running=len(standing.turns) - held)
    if isinstance(gate, Admission):
        state.pressure, state.low, state.high = gate.pressure, gate.band.low, gate.band.high
    return state
