"""The tools of all sessions in virtual time, behind the production scheduler.

Each session has a machine of its own, as `paste-proxy wrap` gives it a sidecar, or all share one. What a job that is
run ahead answers is what the recording has for that call; of a call that the session never makes there is some answer
that nobody reads.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from paste_proxy.events.candidate import SEALED, Candidate
from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.events.outline import Outline
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome
from paste_proxy.events.values import dumps
from paste_proxy.sim.course import CourseCall
from paste_proxy.sim.foresight import NOTHING, Candidates, Moment
from paste_proxy.sim.tool_times import ToolTimes, is_suite
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.sameness.shell import answer_of
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import (
    Asked,
    CallEnded,
    Cancel,
    Command,
    Commit,
    Committed,
    EffectBegan,
    EffectEnded,
    JobEnded,
    Launch,
    Narrowed,
    Predicted,
    Promote,
    Refused,
    Run,
    Serve,
    SessionEnded,
    Settled,
    Tick,
    Told,
)

COMMIT_S = 0.05
"""To let what a staged command changed happen."""
SEALED_CONFIDENCE = 0.98
"""An agent nearly always asks for what its LLM has written."""
_LINKS = 2
"""Of a chain, before the last one: each stands on guesses before it."""
_FURTHER, _OF = 0.5, 2.0
"""Before any call was seen: of so many, so many were followed by another of their turn."""
_EXPECTED_S = 1.0
"""Of a tool that nobody has timed."""
_LINES = "\n".join(f"{number:>6}→" for number in range(1, 2_000))
"""A file, in the form of one that is read whole."""

After = Callable[[float, Callable[[], None]], None]
"""Has something happen so many seconds from now."""


@dataclass(slots=True, eq=False)
class Tooling:
    """What the tool side keeps of a session."""

    name: str
    coming: Mapping[str, CourseCall]
    """By the key of its core, a call that it makes at some time."""
    moment: Moment = NOTHING
    """The latest, which chains go on from."""
    saved_s: float = 0.0
    """Tool time that it did not wait for, ever."""
    wasted_s: float = 0.0
    likely: dict[int, float] = field(default_factory=dict)
    """Seconds likely to be hidden, by job."""
    hits: int = 0
    """Calls answered by a job that was started before the call was written."""
    early: int = 0
    """Those answered by one that was started once it was."""
    asked: int = 0
    _written: int = 0
    _further: int = 0

    @property
    def further(self) -> float:
        """Probability that after one call its turn asks for another."""
        return (self._further + _FURTHER) / (self._written + _OF)

    @property
    def likely_s(self) -> float:
        """Tool time likely to be hidden behind its next turn."""
        return sum(self.likely.values())

    def count(self, order: int) -> None:
        """A turn of it asks for a call."""
        self._written += 1
        self._further += order > 0


@dataclass(slots=True, eq=False)
class _Call:
    session: Tooling
    recorded: CourseCall
    answered: Callable[[], None]


@dataclass(slots=True, eq=False)
class _Machine:
    scheduler: Scheduler
    jobs: dict[int, Launch] = field(default_factory=dict)
    ticks_at: float | None = None


class ToolSide:
    """All tool calls, and all that is run ahead.

    Args:
        scheduler: makes one for a machine.
        shared: whether all sessions are on one machine.
        now: the time.
    """

    def __init__(
        self,
        scheduler: Callable[[], Scheduler],
        policy: Policy,
        times: ToolTimes,
        *,
        now: Callable[[], float],
        after: After,
        shared: bool = False,
    ) -> None:
        self._scheduler, self._policy, self._times, self._shared = scheduler, policy, times, shared
        self._now, self._after = now, after
        self._sessions: dict[str, Tooling] = {}
        self._machines: dict[str, _Machine] = {}
        self._calls: dict[int, _Call] = {}
        self._numbers = 0

    def open(self, name: str, coming: Mapping[str, CourseCall]) -> Tooling:
        """A session begins."""
        session = self._sessions[name] = Tooling(name, coming)
        return session

    def close(self, session: Tooling) -> None:
        """It is over."""
        self._tell(session, SessionEnded(session=session.name))
        del self._sessions[session.name]
        if not self._shared:
            self._machines.pop(session.name, None)

    def happened(self, session: Tooling, moment: Moment) -> None:
        """Something was said or answered, and makes calls likely."""
        session.moment = moment
        self._predicted(session, moment.candidates)

    def being_written(self, session: Tooling, outline: Outline, likely: Candidates) -> None:
        """A part of a call stands in the stream."""
        newly = (Predicted(session=session.name, candidates=likely),) if likely else ()
        self._tell(session, Narrowed(session=session.name, outline=outline, more=session.further, newly=newly))

    def written(self, session: Tooling, call: CourseCall, order: int) -> None:
        """A call stands in the stream as a whole: predictor zero, and the beginning of a possible effect."""
        session.count(order)
        invocation = call.recorded.invocation
        staged = self._policy.rule_for(invocation).staged
        if not staged:
            id_ = call.recorded.call_id
            self._tell(session, EffectBegan(session=session.name, call_id=id_, invocation=invocation))
        sealed = Candidate(invocation=invocation, confidence=SEALED_CONFIDENCE, source=SEALED)
        newly = () if staged else (Predicted(session=session.name, candidates=(sealed,)),)
        outline = Outline(invocation.tool, invocation.arguments, whole=True)
        self._tell(session, Narrowed(session=session.name, outline=outline, more=session.further, newly=newly))

    def ask(self, session: Tooling, call: CourseCall, answered: Callable[[], None]) -> None:
        """The agent calls a tool; it is told when that has answered."""
        session.asked += 1
        self._numbers += 1
        self._calls[self._numbers] = _Call(session, call, answered)
        invocation = call.recorded.invocation
        self._tell(session, Asked(call=self._numbers, session=session.name, invocation=invocation))
        if not self._policy.rule_for(invocation).staged:
            self._tell(session, EffectEnded(session=session.name, call_id=call.recorded.call_id))

    def _predicted(self, session: Tooling, candidates: Candidates) -> None:
        if candidates:
            self._tell(session, Predicted(session=session.name, candidates=candidates))

    def _tell(self, session: Tooling, told: Told) -> None:
        name = "" if self._shared else session.name
        if name not in self._machines:
            self._machines[name] = _Machine(self._scheduler())
        self._step(self._machines[name], told)

    def _step(self, machine: _Machine, told: Told) -> None:
        for command in machine.scheduler.step(told, self._now()):
            self._do(machine, command)
        due = machine.scheduler.next_deadline()
        if due is not None and (machine.ticks_at is None or due < machine.ticks_at):
            machine.ticks_at = due
            self._after(max(0.0, due - self._now()), lambda: self._tick(machine))

    def _tick(self, machine: _Machine) -> None:
        machine.ticks_at = None
        self._step(machine, Tick())

    def _do(self, machine: _Machine, command: Command) -> None:
        match command:
            case Launch():
                self._launch(machine, command)
            case Run(call=number):
                call = self._calls[number]
                took_s = self._times.of(call.session.name, call.recorded.recorded)
                self._after(took_s, lambda: self._ran(machine, number))
            case Serve(call=number):
                self._answer(number)
            case Commit(job=job):
                changed = not is_suite(machine.jobs[job].invocation)
                told = Committed(job=job, done=True, changed=changed)
                self._after(COMMIT_S, lambda: self._step(machine, told))
            case Settled():
                self._settled(machine, command)
            case Cancel() | Promote() | Refused():
                pass
            case _:
                assert_never(command)

    def _ran(self, machine: _Machine, number: int) -> None:
        result = self._calls[number].recorded.recorded.result
        self._step(machine, CallEnded(call=number, status=result.status, result=result))
        self._answer(number)

    def _answer(self, number: int) -> None:
        self._calls.pop(number).answered()

    def _launch(self, machine: _Machine, launch: Launch) -> None:
        session, invocation = self._sessions[launch.session], launch.invocation
        call = session.coming.get(invocation.key)
        if call is None:
            took_s, result = self._times.guessed(session.name, invocation), _ANYTHING
        else:
            took_s, result = self._times.of(session.name, call.recorded), _answer_of(invocation, call)
        machine.jobs[launch.job] = launch
        expected_s = launch.candidate.expected_s or _EXPECTED_S
        session.likely[launch.job] = launch.candidate.confidence * expected_s
        self._after(took_s, lambda: self._job_ended(machine, launch, session, result))

    def _job_ended(self, machine: _Machine, launch: Launch, session: Tooling, result: ToolResult) -> None:
        self._step(machine, JobEnded(job=launch.job, result=result))
        chains = launch.job in machine.jobs and not launch.staged and launch.candidate.depth <= _LINKS
        if not chains or machine.scheduler.crowded:
            return
        candidate = launch.candidate
        self._predicted(
            session,
            tuple(
                replace(one, confidence=one.confidence * candidate.confidence, depth=candidate.depth + 1)
                for one in session.moment.beyond.get(launch.invocation.key, ())
            ),
        )

    def _settled(self, machine: _Machine, settled: Settled) -> None:
        machine.jobs.pop(settled.job, None)
        session = self._sessions[settled.session]
        session.likely.pop(settled.job, None)
        session.saved_s += settled.saved_s
        if settled.outcome not in (Outcome.REUSED, Outcome.PROMOTED):
            session.wasted_s += settled.ran_s
        elif settled.source == SEALED:
            session.early += 1
        else:
            session.hits += 1


def _answer_of(invocation: Invocation, call: CourseCall) -> ToolResult:
    """What a job answers that runs the core of a call: of lines of a file all of them, of a cut output all of it."""
    recorded = call.recorded.result
    if invocation.key == call.recorded.invocation.key and name_of(invocation.tool) != "run":
        return recorded
    match name_of(invocation.tool):
        case "read" | "Read" if recorded.status is Status.OK:
            return replace(recorded, body=dumps(_LINES), content_type="application/json")
        case "run":
            return ToolResult(body=dumps(answer_of(int(recorded.status is not Status.OK), "")))
    return recorded


_ANYTHING = ToolResult(body=dumps(answer_of(0, "")))
"""What is answered to a call that nobody makes."""
