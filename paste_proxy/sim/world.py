"""Sessions, tools, a gate and an engine in virtual time: one system, played from the first arrival to the last end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import assert_never

from paste_proxy.bench.latency import DISPATCH_S, REPLY_S, writes
from paste_proxy.sim.batching import Begun, Engine, Finished, Happened, Reached, Request, Writes
from paste_proxy.sim.course import Course, CourseCall, CourseTurn
from paste_proxy.sim.foresight import Foreseen, Moment
from paste_proxy.sim.tool_side import After, Tooling, ToolSide
from paste_proxy.turns.admission import Admission
from paste_proxy.turns.gate import Gate
from paste_proxy.turns.lengths import Lengths
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
    TurnWrites,
)

_POLLS_S = 0.5
"""Between two looks at the engine's load, and at what it gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A session to come."""

    at: float
    name: str
    """Its own; several may have one course."""
    course: Course
    coming: Mapping[str, CourseCall]
    """Its calls by the keys of their cores."""
    foreseen: Foreseen | None
    """None: nothing is run ahead."""


@dataclass(slots=True, eq=False)
class Played:
    """A session, and where its time went, in seconds."""

    arrival: Arrival
    tooling: Tooling
    ended: float = 0.0
    number: int = 0
    """Of its turn."""
    context: float = 0.0
    """Tokens that it has come to."""
    kept: float = 0.0
    """Of these, those that its last turn left in the engine."""
    saved_s: float = 0.0
    """Tool time saved before its last turn."""
    ready: float = 0.0
    begun: float = 0.0
    asked: float = 0.0
    left: int = 0
    """Calls of the turn that are not answered."""
    queue_s: float = 0.0
    llm_s: float = 0.0
    exposed_s: float = 0.0
    person_s: float = 0.0
    late: int = 0
    """Turns that were let in because they had waited as long as any may."""

    @property
    def e2e_s(self) -> float:
        """From its arrival to its end, but for what people took."""
        return self.ended - self.arrival.at - self.person_s

    @property
    def name(self) -> str:
        """Its own."""
        return self.arrival.name

    @property
    def turn(self) -> CourseTurn:
        """The one that it is at."""
        return self.arrival.course.turns[self.number]


@dataclass(frozen=True, slots=True)
class Sample:
    """How full the engine was at a time, in turns."""

    at: float
    running: float
    waiting: float
    """In the engine's own queue."""
    held: float
    """By the gate."""
    band: tuple[float, float, float] | None
    """P_low, the pressure and P_high, where there is a band."""


class World:
    """Plays sessions.

    Args:
        tools: makes the tool side, given the time and a way to have things happen later.
    """

    def __init__(self, engine: Engine, gate: Gate, tools: Callable[[Callable[[], float], After], ToolSide]) -> None:
        self.engine, self.gate = engine, gate
        self.now = 0.0
        self.played: list[Played] = []
        self.samples: list[Sample] = []
        self.answered: list[float] = []
        """When tools answered calls; ascending."""
        self._side = tools(lambda: self.now, self._after)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order, self._turn_numbers = count(), count(1)
        self._turns: dict[int, Played] = {}
        """By number, those that are ready or run."""
        self._marks: dict[int, list[Callable[[], None]]] = {}
        """By turn, what its marks mean."""
        self._lengths = Lengths()
        self._told_tokens = 0.0
        self._tick_at = inf
        self._open = 0

    def play(self, arrivals: Sequence[Arrival]) -> "World":
        """All of them, to their ends."""
        self._open = len(arrivals)
        for arrival in arrivals:
            self._after(arrival.at, lambda arrival=arrival: self._arrive(arrival))  # type: ignore[misc]
        self._after(_POLLS_S, self._poll)
        while self._open:
            self._next()
        return self

    # --- time -------------------------------------------------------------------------------------

    def _after(self, seconds: float, happen: Callable[[], None]) -> None:
        heappush(self._events, (self.now + seconds, next(self._order), happen))

    def _next(self) -> None:
        engine = self.engine.next_at()
        if engine <= self._events[0][0]:
            self.now = engine
            self._work(self.engine.advance(engine))
        else:
            self.now, _, happen = heappop(self._events)
            happen()

    def _poll(self) -> None:
        self._work(self.engine.advance(self.now))
        self._tell(Produced(tokens=self.engine.produced - self._told_tokens))
        self._told_tokens = self.engine.produced
        load = self.engine.load
        self._tell(Measured(load=load))
        load = self.engine.load
        held = len(self._turns) - load.running - load.waiting
        gate = self.gate
        band = (gate.band.low, gate.pressure, gate.band.high) if isinstance(gate, Admission) else None
        self.samples.append(Sample(self.now, load.running, load.waiting, held, band))
        self._after(_POLLS_S, self._poll)

    # --- turns ------------------------------------------------------------------------------------

    def _arrive(self, arrival: Arrival) -> None:
        session = Played(arrival, self._side.open(arrival.name, arrival.coming))
        self.played.append(session)
        self._ready(session)

    def _ready(self, session: Played) -> None:
        session.ready = self.now
        session.context += session.turn.heard_tokens
        self._foreseen(session, lambda foreseen: foreseen.heard.get(session.number))
        turn = next(self._turn_numbers)
        self._turns[turn] = session
        saved_s, session.saved_s = session.tooling.saved_s - session.saved_s, session.tooling.saved_s
        facts = TurnFacts(
            session=session.name,
            prompt_tokens=max(1.0, session.context),
            cached_tokens=session.kept,
            output_tokens=self._lengths.expected(session.name),
            turns_before=session.number,
            realized_s=saved_s,
            future_s=session.tooling.likely_s,
            tool_wait_s=session.exposed_s / max(1, session.number),
        )
        self._tell(TurnReady(turn=turn, facts=facts))

    def _tell(self, told: Told) -> None:
        for command in self.gate.step(told, self.now):
            self._do(command)
        due = self.gate.next_deadline()
        if due is not None and due < self._tick_at:
            self._tick_at = due
            self._after(max(0.0, due - self.now), self._tick)

    def _tick(self) -> None:
        self._tick_at = inf
        self._tell(Tick())

    def _do(self, command: Command) -> None:
        match command:
            case Admit():
                self._admit(command)
            case TurnAway():
                raise AssertionError("no agent here is impatient")
            case _:
                assert_never(command)

    def _admit(self, admit: Admit) -> None:
        session = self._turns[admit.turn]
        session.late += admit.late
        foreseen = session.arrival.foreseen
        marks = list(self._marks_of(session)) if foreseen is not None and foreseen.watches else []
        self._marks[admit.turn] = [means for _, means in marks]
        request = Request(
            turn=admit.turn,
            session=session.name,
            prompt=max(1.0, session.context),
            answer=session.turn.answer_tokens,
            marks=tuple(at for at, _ in marks),
        )
        self._work(self.engine.submit(request, self.now))

    def _marks_of(self, session: Played) -> Iterable[tuple[float, Callable[[], None]]]:
        for order, call in enumerate(session.turn.calls):
            for at, part in enumerate(call.parts):
                yield part.at, lambda order=order, at=at: self._part(session, order, at)  # type: ignore[misc]
            yield call.sealed_at, lambda order=order: self._sealed(session, order)  # type: ignore[misc]

    def _work(self, happened: Iterable[Happened]) -> None:
        for one in happened:
            match one:
                case Begun(turn):
                    self._turns[turn].begun = self.now
                case Writes(turn):
                    self._tell(TurnWrites(turn=turn))
                case Reached(turn, mark):
                    self._marks[turn][mark]()
                case Finished(turn):
                    self._finished(turn)
                case _:
                    assert_never(one)

    def _finished(self, number: int) -> None:
        session = self._turns.pop(number)
        del self._marks[number]
        turn = session.turn
        session.queue_s += session.begun - session.ready
        session.llm_s += self.now - session.begun
        session.context += turn.answer_tokens
        session.kept = session.context
        self._lengths.seen(session.name, turn.answer_tokens)
        self._tell(TurnOver(turn=number))
        self._foreseen(session, lambda foreseen: foreseen.said.get(session.number))
        if turn.calls:
            self._after(DISPATCH_S, lambda: self._ask(session))
        else:
            self._tell(SessionOver(session=session.name))
            self._turn_over(session)

    # --- tools ------------------------------------------------------------------------------------

    def _part(self, session: Played, order: int, at: int) -> None:
        assert session.arrival.foreseen is not None
        likely = session.arrival.foreseen.written.get((session.number, order, at), ())
        self._side.being_written(session.tooling, session.turn.calls[order].parts[at].outline, likely)

    def _sealed(self, session: Played, order: int) -> None:
        self._side.written(session.tooling, session.turn.calls[order], order)

    def _ask(self, session: Played) -> None:
        """Calls go side by side; one after the other where one of them writes."""
        session.asked, session.left = self.now, len(session.turn.calls)
        if any(writes(call.recorded.invocation.tool) for call in session.turn.calls):
            self._ask_one(session, 0, in_turn=True)
        else:
            for order in range(session.left):
                self._ask_one(session, order, in_turn=False)

    def _ask_one(self, session: Played, order: int, *, in_turn: bool) -> None:
        self._side.ask(
            session.tooling, session.turn.calls[order], lambda: self._answered(session, order, in_turn=in_turn)
        )

    def _answered(self, session: Played, order: int, *, in_turn: bool) -> None:
        self.answered.append(self.now)
        self._foreseen(session, lambda foreseen: foreseen.answered.get((session.number, order)))
        session.left -= 1
        if session.left:
            if in_turn:
                self._ask_one(session, order + 1, in_turn=True)
            return
        session.exposed_s += self.now - session.asked
        session.context += session.turn.outputs_tokens
        self._turn_over(session)

    def _foreseen(self, session: Played, which: Callable[[Foreseen], Moment | None]) -> None:
        foreseen = session.arrival.foreseen
        moment = which(foreseen) if foreseen is not None else None
        if moment is not None:
            self._side.happened(session.tooling, moment)

    def _turn_over(self, session: Played) -> None:
        session.number += 1
        if session.number == len(session.arrival.course.turns):
            session.ended = self.now
            self._open -= 1
            self._side.close(session.tooling)
            self._lengths.forget(session.name)
            if session.arrival.course.turns[-1].calls:
                self._tell(SessionOver(session=session.name))
        elif session.turn.heard:
            session.person_s += REPLY_S
            self._after(REPLY_S, lambda: self._ready(session))
        else:
            self._ready(session)
