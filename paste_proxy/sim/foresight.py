"""What the production predictor foresees at each moment of a recorded session.

It does not depend on who is served when, so that it is worked out once for a session, however often it is played: what
follows from each thing that is said or answered, from each part of a call that is written, and from the answer of a
call that is run ahead, if the session asks for that call later. What would follow from a wrong guess nobody recorded.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.types import CallSealed, Event, LlmTurn, ToolCall, ToolOutput, TurnStarted, UserMessage
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.sim.course import Course, CourseCall, CourseTurn
from paste_proxy.sim.spelling import Spelling
from paste_proxy.speculation.policy import Policy

_LINKS = 3
"""Of a chain of calls, each run ahead on the answer of the one before; as the sidecar does."""
_HORIZON = 8
"""Turns within which a call counts as one that the session asks for later."""

Candidates = tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened in a session, and what it makes likely."""

    candidates: Candidates
    beyond: dict[str, Candidates] = field(default_factory=dict)
    """By the key of a call that is run ahead: what its answer makes likely."""


NOTHING = Moment(())


@dataclass(slots=True)
class Foreseen:
    """Of one session, all that is foreseen."""

    heard: dict[int, Moment] = field(default_factory=dict)
    """By turn, of what is said before it."""
    said: dict[int, Moment] = field(default_factory=dict)
    """By turn, of its end."""
    answered: dict[tuple[int, int], Moment] = field(default_factory=dict)
    """By turn and order, of a call's answer."""
    written: dict[tuple[int, int, int], Candidates] = field(default_factory=dict)
    """By turn, order and part, of a call that is being written."""
    watches: bool = True
    """Whether calls are watched while they are written, and run as soon as they stand there."""


def foresee(course: Course, pool: Pool, policy: Policy, spelling: Spelling, tools: Collection[str]) -> Foreseen:
    """Follow a session from its beginning to its end.

    Args:
        tools: those that its agent has; no others can be run ahead.
    """
    return _Follower(course, pool, policy, spelling, tools).follow()


class _Follower:
    def __init__(self, course: Course, pool: Pool, policy: Policy, spelling: Spelling, tools: Collection[str]) -> None:
        self._course, self._policy, self._spelling, self._tools = course, policy, spelling, tools
        self._predictor = Predictor(pool, executable=self._executable)
        self._foreseen = Foreseen()

    def follow(self) -> Foreseen:
        for number, turn in enumerate(self._course.turns):
            self._hear(number, turn)
            self._step(TurnStarted(session="", ts=None, turn=number, model=""))
            for order, call in enumerate(turn.calls):
                self._write(number, order, turn)
                self._step(_sealed(number, order, self._pooled(call.recorded.invocation)))
            said = self._step(LlmTurn(session="", ts=None, text=turn.text, turn=number))
            self._foreseen.said[number] = self._moment(number + 1, said) if not turn.calls else NOTHING
            for order, call in enumerate(turn.calls):
                self._step(_asked(number, order, self._pooled(call.recorded.invocation)))
                found = self._step(self._output(number, order, call))
                self._foreseen.answered[number, order] = self._moment(number + 1, found)
        return self._foreseen

    def _hear(self, number: int, turn: CourseTurn) -> None:
        events = [UserMessage(session="", ts=None, text=text) for text in turn.heard]
        for event in events[:-1]:
            self._predictor.follow(event)
        if events:
            self._foreseen.heard[number] = self._moment(number, self._step(events[-1]))

    def _write(self, number: int, order: int, turn: CourseTurn) -> None:
        call = turn.calls[order]
        beside = {self._pooled(one.recorded.invocation).key for one in turn.calls[:order]}
        for at, part in enumerate(call.parts):
            known = self._pooled(Invocation(part.outline.tool, part.outline.known))
            found = self._predictor.narrow(Outline(known.tool, known.arguments), beside)
            self._foreseen.written[number, order, at] = self._meant(found.candidates)

    def _step(self, event: Event) -> Candidates:
        return self._meant(self._predictor.step(event).candidates)

    def _moment(self, turn: int, candidates: Candidates) -> Moment:
        """A moment before a turn, with the chains that begin there."""
        coming = {
            self._policy.core(call.recorded.invocation).key: call
            for one in reversed(self._course.turns[turn : turn + _HORIZON])
            for call in one.calls
        }
        beyond: dict[str, Candidates] = {}
        front = {one.invocation.key for one in candidates} & coming.keys()
        for _ in range(_LINKS - 1):
            for key in sorted(front):
                beyond[key] = self._suppose(coming[key])
            next_front = {one.invocation.key for key in front for one in beyond[key]} & coming.keys()
            front = next_front - beyond.keys()
        return Moment(candidates, beyond)

    def _suppose(self, call: CourseCall) -> Candidates:
        core = self._pooled(call.recorded.invocation)
        return self._meant(self._predictor.suppose([_asked(0, 0, core)], self._output(0, 0, call)).candidates)

    def _output(self, number: int, order: int, call: CourseCall) -> ToolOutput:
        result = call.recorded.result
        return ToolOutput(
            session="",
            ts=None,
            call_id=_id(number, order),
            tool=self._pooled(call.recorded.invocation).tool,
            output=result.observed(),
            status=result.status,
        )

    def _pooled(self, invocation: Invocation) -> Invocation:
        return self._spelling.pooled(self._policy.core(invocation))

    def _meant(self, candidates: Sequence[Candidate]) -> Candidates:
        asked = (replace(one, invocation=self._spelling.asked(one.invocation)) for one in candidates)
        return tuple(
            replace(one, invocation=self._policy.core(one.invocation))
            for one in asked
            if one.invocation.tool in self._tools
        )

    def _executable(self, tool: str) -> bool:
        """Whether calls of a tool, as the pool spells it, may be run ahead."""
        asked = self._spelling.asked(Invocation(tool, {})).tool
        return asked in self._tools and self._policy.of_tool(asked).allowed


def _sealed(number: int, order: int, invocation: Invocation) -> CallSealed:
    id_ = _id(number, order)
    return CallSealed(session="", ts=None, turn=number, order=order, call_id=id_, invocation=invocation)


def _asked(number: int, order: int, invocation: Invocation) -> ToolCall:
    return ToolCall(session="", ts=None, call_id=_id(number, order), invocation=invocation, turn=number)


def _id(number: int, order: int) -> str:
    return f"{number}/{order}"
