"""Stateful tools and their agents in virtual time, around a real scheduler.

A read sees the whole state at one instant of its run, a write applies at one instant of its run; both
instants are anywhere between its start and its end. What a staged write makes of the state rests on what it saw,
and applies at one instant of its commit. The driver keeps the books: what each agent saw and
when, every state there was, and that commands come in the right number.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Literal, TypeAlias, assert_never

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.events.outline import Outline
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome
from paste_proxy.events.values import Json, dumps
from paste_proxy.speculation.domains import overlap
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
    ObservationLost,
    Predicted,
    Promote,
    Reason,
    Refused,
    Run,
    Serve,
    SessionEnded,
    Settled,
    Tick,
    Told,
)

RULES = """
[[rule]]
tool = "box/read_a"
effect = "read"
reads = ["a"]

[[rule]]
tool = "box/read_ax"
effect = "read"
reads = ["a:x"]

[[rule]]
tool = "box/read_b"
effect = "read"
reads = ["b"]

[[rule]]
tool = "box/look"
effect = "read"
reads = ["b"]
reuse_s = 12

[[rule]]
tool = "box/refuse"
effect = "read"
reads = ["b"]

[[rule]]
tool = "box/list"
effect = "read"
reads = ["a", "b"]
same = { lines = { head = "head", tail = "tail" }, ignore = ["why"] }

[[rule]]
tool = "box/make"
effect = "read"
reads = ["a"]
same = { shell = { command = "command" }, ignore = ["why"] }

[[rule]]
tool = "box/write_a"
effect = "write"
writes = ["a"]

[[rule]]
tool = "box/write_ax"
effect = "write"
writes = ["a:x"]

[[rule]]
tool = "box/write_b"
effect = "write"

[[rule]]
tool = "box/raise_a"
effect = "write"
stage = true
reads = ["b"]
writes = ["a"]
same = { shell = { command = "command" }, ignore = ["why"] }

[[rule]]
tool = "box/raise_b"
effect = "write"
stage = true
reads = ["b"]
writes = ["b"]
"""
"""`box/write_b` says no domains and `box/unlisted` has no rule: both count as writes to all of the box's."""

CELLS = ("a:x", "a:y", "b")
TOUCHED = {
    "read_a": "a",
    "read_ax": "a:x",
    "read_b": "b",
    "look": "b",
    "refuse": "b",
    "list": "*",
    "make": "a",
    "write_a": "a",
    "write_ax": "a:x",
    "write_b": "b",
    "raise_a": "a",
    "raise_b": "b",
    "unlisted": "*",
}
READS = tuple(name for name in TOUCHED if name.startswith("read") or name in ("look", "refuse", "list", "make"))
STAGED = ("raise_a", "raise_b")
"""They add to what is there, but for every fourth, which changes nothing. `raise_a` is stopped by a `head`, before it
comes to its last cell."""
PARTS: dict[str, tuple[dict[str, Json], ...]] = {
    "list": ({}, {"head": 1}, {"head": 2}, {"tail": 1}, {"head": 0}, {"head": 1, "tail": 1}, {"why": "so"}),
    "make": tuple(
        {"command": f"make{end}"} for end in ("", " 2>&1", " 2>&1 | head -1", " 2>&1 | tail -n 1", " | tail -1")
    ),
    "raise_a": tuple({"command": f"raise{end}"} for end in ("", " 2>&1", " 2>&1 | head -1", " 2>&1 | tail -n 1")),
}
"""The calls of one core, and some that only look like them; the first is the core."""
SESSIONS = ("s", "t")

Way: TypeAlias = Literal["called", "abandoned", "native", "unseen"]
"""Through the sidecar; so, but given up at once; past the sidecar; past it with its events lost."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A prediction told some seconds after its step began."""

    after_s: float
    session: str
    name: str
    argument: int
    confidence: float
    source: str
    part: int = 0


@dataclass(frozen=True, slots=True)
class Begun:
    """A call said to be written some seconds after its step began, true or not."""

    after_s: float
    session: str
    name: str
    argument: int
    known: bool
    """Its arguments, not only its name."""
    whole: bool
    more: float
    part: int = 0
    likely: tuple[Guess, ...] = ()
    """What is guessed in the light of it, at once."""


@dataclass(frozen=True, slots=True)
class Step:
    """An agent thinks, then uses a tool."""

    session: str
    name: str
    argument: int
    think_s: float
    way: Way = "called"
    guesses: tuple[Guess, ...] = ()
    begun: tuple[Begun, ...] = ()
    part: int = 0
    """Which of the tool's `PARTS` is asked for."""


@dataclass(slots=True)
class Seen:
    """One tool use as its agent saw it."""

    step: Step
    asked_at: float
    started_at: float | None = None
    answered_at: float | None = None
    body: bytes | None = None


@dataclass(slots=True)
class Work:
    """One run of a tool, of a job or of a call."""

    invocation: Invocation
    result: ToolResult | None = None
    cancelled: bool = False
    staged: bool = False
    ended: bool = False
    saw: dict[str, int] = field(default_factory=dict)
    makes: dict[str, int] = field(default_factory=dict)
    """What it writes, of a staged run not before its commit."""


@dataclass(slots=True)
class World:
    """Plays agents to their end.

    Args:
        scheduler: what is under test.
        seed: of durations and instants.
        faults: the share of speculative runs that break.
        steady: a run's length depends on its invocation only.
        commit_s: what a commit takes at most; on top of the run, so that it makes an answer later.
        proof: a commit looks whether what its run saw is still so. Without, that is the scheduler's to know.
    """

    scheduler: Scheduler
    seed: int
    faults: float = 0.1
    steady: bool = False
    proof: bool = False
    commit_s: float = 0.5
    now: float = 0.0
    cells: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CELLS, 0))
    states: list[tuple[float, dict[str, int]]] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    settled: dict[int, Settled] = field(default_factory=dict)
    refused: Counter[Reason] = field(default_factory=Counter)
    committed: int = 0
    in_vain: int = 0
    """Commits that changed nothing."""
    disproved: int = 0
    again: int = 0
    """Calls answered with what another call was answered."""
    told: int = 0
    """Calls answered from the run of another call."""
    busiest: int = 0
    """Tool runs that the scheduler had going at once, at most."""

    _busy: int = 0
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _order: "count[int]" = field(default_factory=count)
    _random: Random = field(default_factory=Random)
    _jobs: dict[int, Work] = field(default_factory=dict)
    _waiting: dict[int, tuple[Seen, Callable[[], None]]] = field(default_factory=dict)
    _left: dict[int, Callable[[], None]] = field(default_factory=dict)
    _promoted: dict[int, int] = field(default_factory=dict)

    def play(self, *agents: Sequence[Step]) -> "World":
        """Run all agents side by side, each one step after the other, and end their sessions."""
        self._random.seed(self.seed)
        self.states.append((0.0, dict(self.cells)))
        for agent in agents:
            self._next(list(agent))
        while self._events:
            self.now, _, happen = heappop(self._events)
            happen()
        for session in SESSIONS:
            self._tell(SessionEnded(session=session))
        assert not self._waiting, "calls without an answer"
        assert not self._jobs, "jobs without an end"
        return self

    def _at(self, after_s: float, happen: Callable[[], None]) -> None:
        heappush(self._events, (self.now + after_s, next(self._order), happen))

    # --- agents -----------------------------------------------------------------------------------

    def _next(self, steps: list[Step]) -> None:
        if not steps:
            return
        step, rest = steps[0], steps[1:]
        for guess in step.guesses:
            self._at(guess.after_s, lambda guess=guess: self._tell(_predicted(guess)))  # type: ignore[misc]
        for begun in step.begun:
            self._at(begun.after_s, lambda begun=begun: self._tell(_narrowed(begun)))  # type: ignore[misc]
        self._at(step.think_s, lambda: self._act(step, lambda: self._next(rest)))

    def _act(self, step: Step, go_on: Callable[[], None]) -> None:
        invocation = _invocation(step)
        seen = Seen(step, self.now)
        self.seen.append(seen)
        match step.way:
            case "called" | "abandoned":
                number = len(self.seen)
                self._waiting[number] = (seen, go_on)
                self._tell(Asked(call=number, session=step.session, invocation=invocation))
                if step.way == "abandoned" and number in self._waiting:
                    self._give_up(number)
            case "native":
                call_id = str(len(self.seen))
                self._tell(EffectBegan(session=step.session, call_id=call_id, invocation=invocation))

                def end(_: ToolResult) -> None:
                    self._tell(EffectEnded(session=step.session, call_id=call_id))
                    go_on()

                self._execute(Work(invocation), end)
            case "unseen":
                self._tell(ObservationLost())
                self._execute(Work(invocation), lambda _: go_on())
            case _:
                assert_never(step.way)

    def _give_up(self, number: int) -> None:
        """The agent stops waiting, does not know whether the tool does, and goes on after it at the latest."""
        seen, go_on = self._waiting.pop(number)
        self._tell(CallEnded(call=number, status=None))
        if seen.started_at is None:
            self._at(0.0, go_on)
        else:
            self._busy -= 1
            self._left[number] = go_on

    # --- tools ------------------------------------------------------------------------------------

    def _execute(self, work: Work, end: Callable[[ToolResult], None]) -> None:
        key = work.invocation.key
        random = Random(f"{self.seed} {key}") if self.steady else self._random
        takes = random.uniform(0.1, 6.0)
        instant = takes * random.choice((0.0, random.random(), 1.0))
        self._at(instant, lambda: self._touch(work))

        def finish() -> None:
            if not work.cancelled:
                assert work.result is not None
                end(work.result)

        self._at(takes, finish)

    def _touch(self, work: Work) -> None:
        if work.cancelled:
            return
        name = name_of(work.invocation.tool)
        touched = [cell for cell in CELLS if overlap(cell, TOUCHED[name])]
        work.saw = {cell: self.cells[cell] for cell in touched}
        work.makes = _made(name, work.invocation.arguments, work.saw)
        if not work.staged:
            self._apply(work)
        body = _answer_of(name, work.invocation.arguments, {**work.saw, **work.makes})
        work.result = ToolResult(body=body, status=Status.ERROR if name == "refuse" else Status.OK)

    def _apply(self, work: Work) -> None:
        if work.makes:
            self.cells.update(work.makes)
            self.states.append((self.now, dict(self.cells)))

    # --- the scheduler ----------------------------------------------------------------------------

    def _tell(self, told: Told) -> None:
        for command in self.scheduler.step(told, self.now):
            self._do(command)
        due = self.scheduler.next_deadline()
        if due is not None:
            heappush(self._events, (due, next(self._order), self._tick))

    def _tick(self) -> None:
        if self.scheduler.next_deadline() == self.now:
            self._tell(Tick())

    def _do(self, command: Command) -> None:
        match command:
            case Launch():
                self._launch(command)
            case Cancel():
                work = self._jobs[command.job]
                assert work.ended or self._promoted.get(command.job) not in self._waiting, (
                    "a promoted job was cancelled"
                )
                work.cancelled = True
                self._busy -= not work.ended
            case Run():
                self._run(command.call)
            case Promote():
                assert command.call in self._waiting
                self._promoted[command.job] = command.call
            case Commit():
                self._commit(command)
            case Serve():
                if command.job not in self._jobs:
                    self._again(command)
                    return
                assert not self._jobs[command.job].staged, "served before its effects have happened"
                assert command.outcome in (Outcome.REUSED, Outcome.PROMOTED)
                asked = _invocation(self._waiting[command.call][0].step)
                self.told += asked != self._jobs[command.job].invocation
                self._answer(command.call, command.result)
            case Settled():
                assert command.job not in self.settled, "settled twice"
                self.settled[command.job] = command
                if not command.shadow:
                    self._jobs.pop(command.job, None)
            case Refused(reason=reason):
                self.refused[reason] += 1
            case _:
                assert_never(command)

    def _again(self, command: Serve) -> None:
        """A call is served what another was: the same of a session, whose rule allows it."""
        assert command.job not in self.settled, "served by a settled job"
        mine = self._waiting[command.call][0]
        others = [
            seen
            for seen in self.seen
            if seen is not mine
            and seen.step.session == mine.step.session
            and seen.step.name == mine.step.name == "look"
        ]
        assert any(seen.body == command.result.body for seen in others), "served what nobody was"
        self.again += 1
        self._answer(command.call, command.result)

    def _launch(self, command: Launch) -> None:
        name = name_of(command.invocation.tool)
        assert name in (STAGED if command.staged else READS), "something else than a read was run ahead"
        work = self._jobs[command.job] = Work(command.invocation, staged=command.staged)
        self._begin()
        breaks = self._random.random() < self.faults

        def end(result: ToolResult) -> None:
            self._busy -= 1
            work.ended = True
            self._tell(JobEnded(job=command.job, result=None if breaks else result))

        self._execute(work, end)

    def _commit(self, command: Commit) -> None:
        work = self._jobs[command.job]
        assert work.ended, "committed before its end"
        assert not work.cancelled, "committed after it was let go"
        assert command.call in self._waiting, "committed for nobody"
        takes = self._random.uniform(0.0, self.commit_s)

        def apply() -> None:
            unchanged = all(self.cells[cell] == value for cell, value in work.saw.items())
            assert unchanged or self.proof, "committed although what it saw was written since"
            self.disproved += not unchanged
            if unchanged and self._random.random() >= self.faults:
                work.staged = False
                self.committed += 1
                self._apply(work)

        self._at(takes * self._random.random(), apply)
        changed = any(work.saw[cell] != value for cell, value in work.makes.items())
        self.in_vain += not changed
        self._at(takes, lambda: self._tell(Committed(job=command.job, done=not work.staged, changed=changed)))

    def _run(self, number: int) -> None:
        seen, _ = self._waiting[number]
        assert seen.started_at is None, "run twice"
        seen.started_at = self.now
        self._begin()

        def end(result: ToolResult) -> None:
            if number in self._left:
                self._at(0.0, self._left.pop(number))
            else:
                self._busy -= 1
                self._answer(number, result)
                self._tell(CallEnded(call=number, status=result.status, result=result))

        self._execute(Work(_invocation(seen.step)), end)

    def _begin(self) -> None:
        self._busy += 1
        self.busiest = max(self.busiest, self._busy)

    def _answer(self, number: int, result: ToolResult) -> None:
        seen, go_on = self._waiting.pop(number)
        seen.answered_at, seen.body = self.now, result.body
        self._at(0.0, go_on)


def _invocation(aim: Step | Guess | Begun) -> Invocation:
    parts = PARTS.get(aim.name, ({},))
    return Invocation(f"box/{aim.name}", {"value": aim.argument, **parts[aim.part % len(parts)]})


def _made(name: str, arguments: Mapping[str, Json], saw: Mapping[str, int]) -> dict[str, int]:
    """What a tool makes of the cells it touches."""
    value = arguments["value"]
    assert isinstance(value, int)
    if name in READS:
        return {}
    if name not in STAGED:
        return dict.fromkeys(saw, value)
    raised = list(saw)[: 1 if "head" in str(arguments.get("command")) else None]
    return {cell: saw[cell] + (value if value % 4 else 0) for cell in raised}


def _answer_of(name: str, arguments: Mapping[str, Json], cells: Mapping[str, int]) -> bytes:
    """What a tool says of the cells it touches; of some, in lines."""
    lines = [f"{cell} {value}" for cell, value in cells.items()]
    match name, arguments:
        case "list", {"head": int(head), "tail": int(tail)} if head and tail:
            return b'"not both"'
        case "list", {"head": int(count)} if count:
            return dumps("\n".join(lines[:count]))
        case "list", {"tail": int(count)}:
            return dumps("\n".join(lines[-count:]))
        case "list", _:
            return dumps("\n".join(lines))
        case "make" | "raise_a", {"command": str(command)}:
            made = {"h": lines[:1], "t": lines[-1:]}.get(command.partition("| ")[2][:1], lines)
            return dumps(f"[exit {3 if '|' not in command else 0}]\n" + "".join(f"{line}\n" for line in made))
    return dumps(dict(cells))


def _narrowed(begun: Begun) -> Narrowed:
    call = _invocation(begun)
    return Narrowed(
        session=begun.session,
        outline=Outline(call.tool, call.arguments if begun.known else {}, whole=begun.whole),
        more=begun.more,
        newly=tuple(map(_predicted, begun.likely)),
    )


def _predicted(guess: Guess) -> Predicted:
    candidate = Candidate(invocation=_invocation(guess), confidence=guess.confidence, source=guess.source)
    return Predicted(session=guess.session, candidates=(candidate,))
