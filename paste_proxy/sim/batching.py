"""An engine in virtual time: continuous batching with chunked prefill, a bounded cache, and preemption by recompute.

Time goes in steps, of which each gives every turn that decodes one token; between two things that change the batch all
steps cost alike, but for the contexts that grow. So there is one clock of steps for all turns, and a turn's end is a
place on it. Prompts are prefilled in the order of their turns. Where contexts outgrow the room, the turn that was let
in last goes back to the queue, and all that it had is prefilled anew.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf, sqrt

from paste_proxy.sim.engine_model import EngineModel
from paste_proxy.sim.prefix_cache import PrefixCache
from paste_proxy.turns.types import EngineLoad

_KEPT = 0.98
"""Of what is known of earlier prompts, at each one."""
_HAIR = 1e-6
"""Of a token: sums of fractions come out a little off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A turn as the engine gets it; all lengths in tokens."""

    turn: int
    session: str
    prompt: float
    answer: float
    marks: Sequence[float] = ()
    """Places in the answer, ascending, of which it is said when they are reached; its end is one by itself."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The engine works on a turn for the first time."""

    turn: int


@dataclass(frozen=True, slots=True)
class Writes:
    """Its prompt is worked off, and its answer begins."""

    turn: int


@dataclass(frozen=True, slots=True)
class Reached:
    """The answer has come to a mark of the request."""

    turn: int
    mark: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is whole."""

    turn: int


Happened = Begun | Writes | Reached | Finished


@dataclass(slots=True, eq=False)
class _Turn:
    request: Request
    begun: bool = False
    writes: bool = False
    written: float = 0.0
    """Tokens of the answer, until it was last let in."""
    mark: int = 0
    """The next one."""
    prefill: float = 0.0
    """Tokens that are to be prefilled still."""
    decodes_since: float | None = None
    """On the clock of steps; None: it does not decode."""

    def next_at(self) -> float:
        """Where on the clock its next mark is, or its end."""
        assert self.decodes_since is not None
        marks = self.request.marks
        place = marks[self.mark] if self.mark < len(marks) else self.request.answer
        return self.decodes_since + max(0.0, place - self.written)


@dataclass(slots=True)
class _Plan:
    """What goes on until the batch changes by itself."""

    step_s: float
    """Seconds of a step now."""
    growth_s: float
    """More for each step further."""
    prefilled: float
    """Tokens of prompts in a step."""
    steps: float
    until: float


@dataclass(slots=True)
class Engine:
    """Work it has, and how far it has come."""

    model: EngineModel
    cache: PrefixCache = field(default_factory=PrefixCache)
    context: float = 0.0
    """Tokens of the turns that run."""
    produced: float = 0.0
    """Tokens of answers, ever."""
    preempted: int = 0
    _asked: float = 0.0
    """Tokens of prompts of late, and of these the ones found in the cache."""
    _found: float = 0.0
    _now: float = 0.0
    _steps: float = 0.0
    _waiting: deque[_Turn] = field(default_factory=deque)
    _running: dict[int, _Turn] = field(default_factory=dict)
    """In the order in which they were let in."""
    _prefilling: deque[_Turn] = field(default_factory=deque)
    _owed: float = 0.0
    """Tokens that those still need."""
    _due: list[tuple[float, int, _Turn, float]] = field(default_factory=list)
    _order: "count[int]" = field(default_factory=count)
    _plan: _Plan | None = None

    @property
    def load(self) -> EngineLoad:
        """What such an engine says of itself."""
        return EngineLoad(
            running=len(self._running),
            waiting=len(self._waiting),
            kv_used=min(1.0, self.context / self.model.kv_tokens),
            cache_hits=self._found / self._asked if self._asked else None,
        )

    def submit(self, request: Request, now: float) -> list[Happened]:
        """A turn comes."""
        happened = self.advance(now)
        self._waiting.append(_Turn(request))
        return [*happened, *self._settle()]

    def next_at(self) -> float:
        """When something happens by itself; inf: it is idle."""
        return self._planned().until if self._running else inf

    def advance(self, now: float) -> list[Happened]:
        """Work until `now`, which is no later than `next_at`."""
        if self._running:
            self._work(now)
        self._now = now
        return list(self._settle())

    def _planned(self) -> _Plan:
        if self._plan is None:
            decoding = len(self._running) - len(self._prefilling)
            prefilled = min(self.model.chunk_tokens, self._owed) if self._prefilling else 0.0
            step_s = self.model.step_seconds(decoding, self.context, prefilled)
            growth = decoding + prefilled
            steps = [self._due[0][0] - self._steps] if self._due else []
            if self._prefilling:
                steps.append(self._prefilling[0].prefill / prefilled if prefilled else 0.0)
            if len(self._running) > 1 and growth:
                steps.append((self.model.kv_tokens - self.context) / growth)
            ahead, growth_s = max(0.0, min(steps)), self.model.context_s * growth
            until = self._now + ahead * step_s + growth_s * ahead * ahead / 2
            self._plan = _Plan(step_s, growth_s, prefilled, ahead, until)
        return self._plan

    def _work(self, now: float) -> None:
        plan = self._planned()
        steps = plan.steps if now >= plan.until else _steps_in(now - self._now, plan)
        decoding = len(self._running) - len(self._prefilling)
        self._steps += steps
        self.produced += decoding * steps
        self.context += (decoding + plan.prefilled) * steps
        if self._prefilling:
            self._prefilling[0].prefill -= plan.prefilled * steps
            self._owed -= plan.prefilled * steps
        self._plan = None

    def _settle(self) -> Iterator[Happened]:
        """All that is due at this point of the clock."""
        while self._prefilling and self._prefilling[0].prefill <= _HAIR:
            turn = self._prefilling.popleft()
            self._decode(turn)
            if not turn.writes:
                turn.writes = True
                yield Writes(turn.request.turn)
        yield from self._reached()
        while self.context >= self.model.kv_tokens - _HAIR and len(self._running) > 1:
            self._preempt()
        yield from self._let_in()
        self.cache.shrink(self.model.kv_tokens - self.context)
        self._plan = None

    def _reached(self) -> Iterator[Happened]:
        while self._due and self._due[0][0] <= self._steps + _HAIR:
            _, _, turn, since = heappop(self._due)
            if turn.decodes_since != since:
                continue
            if turn.mark < len(turn.request.marks):
                turn.mark += 1
                self._await(turn)
                yield Reached(turn.request.turn, turn.mark - 1)
            else:
                self._end(turn)
                yield Finished(turn.request.turn)

    def _decode(self, turn: _Turn) -> None:
        self._owed = self._owed - turn.prefill if self._prefilling else 0.0
        turn.decodes_since = self._steps
        self._await(turn)

    def _await(self, turn: _Turn) -> None:
        assert turn.decodes_since is not None
        heappush(self._due, (turn.next_at(), next(self._order), turn, turn.decodes_since))

    def _leave(self, turn: _Turn, tokens: float) -> None:
        del self._running[turn.request.turn]
        turn.decodes_since = None
        self.context = self.context - tokens if self._running else 0.0

    def _end(self, turn: _Turn) -> None:
        tokens = turn.request.prompt + turn.request.answer
        self._leave(turn, tokens)
        self.cache.keep(turn.request.session, tokens)

    def _preempt(self) -> None:
        turn = next(reversed(self._running.values()))
        if turn.decodes_since is None:
            self._prefilling.remove(turn)
            self._owed -= turn.prefill
            tokens = turn.request.prompt + turn.written - turn.prefill
        else:
            turn.written += self._steps - turn.decodes_since
            tokens = turn.request.prompt + turn.written
        self._leave(turn, tokens)
        self._waiting.appendleft(turn)
        self.preempted += 1

    def _let_in(self) -> Iterator[Happened]:
        while self._waiting and len(self._running) < self.model.max_batch:
            turn = self._waiting[0]
            tokens = turn.request.prompt + turn.written
            a_step_more = len(self._running) + 1
            if self._running and self.context + self._owed + tokens + a_step_more > self.model.kv_tokens:
                return
            self._waiting.popleft()
            cached = min(self.cache.take(turn.request.session), tokens)
            turn.prefill = tokens - cached
            self._asked, self._found = self._asked * _KEPT + tokens, self._found * _KEPT + cached
            self.context += cached
            self._owed += turn.prefill
            self._running[turn.request.turn] = turn
            self._prefilling.append(turn)
            if not turn.begun:
                turn.begun = True
                yield Begun(turn.request.turn)


def _steps_in(seconds: float, plan: _Plan) -> float:
    """Steps that are done in so many seconds."""
    steps = 2 * seconds / (plan.step_s + sqrt(plan.step_s**2 + 2 * plan.growth_s * seconds))
    return min(max(0.0, steps), plan.steps)
