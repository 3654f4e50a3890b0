"""Transcripts: tell the scheduler something, read its commands as short lines."""

import gc
from types import FunctionType, ModuleType
from typing import assert_never

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.values import Json
from paste_proxy.speculation.budgets.budgets import NO_BUDGET, BudgetLimits
from paste_proxy.speculation.limits import ServerCapacity, SpeculationLimits
from paste_proxy.speculation.policy import Policy
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
    Mode,
    Narrowed,
    Predicted,
    Promote,
    Refused,
    Run,
    Serve,
    Settled,
    Told,
)

RULES = """
default = "deny"

[[rule]]
tool = "get_*"
effect = "read"
reads = ["shop"]

[[rule]]
tool = "set_*"
effect = "write"
writes = ["shop"]

[[rule]]
tool = "make_*"
effect = "write"
stage = true
reads = ["web"]
writes = ["shop"]

[[rule]]
tool = "web_*"
effect = "read"
reads = ["web"]
ttl_s = 10

[[rule]]
tool = "paid_*"
effect = "read"
reads = ["shop"]
reuse_s = 100

[[rule]]
tool = "sum"
effect = "read"
reads = []

[[rule]]
tool = "watched_*"
effect = "read"
mode = "observe"

[[rule]]
tool = "costly_*"
effect = "read"
speculate = false

[[rule]]
tool = "sure_*"
effect = "read"
min_confidence = 0.8

[[rule]]
tool = "small/read"
effect = "read"

[[rule]]
tool = "small/write"
effect = "write"

[[rule]]
tool = "read_file"
effect = "read"
reads = ["shop"]
same = { ignore = ["why"], lines = { head = "head", tail = "tail" } }

[[rule]]
tool = "run"
effect = "read"
reads = ["shop"]
same = { shell = { command = "command" }, seconds = { timeout = 1 } }
"""


def limits(
    slots: int = 4,
    candidates: int = 8,
    ttl_s: float = 60.0,
    held_results: int = 8,
    held_bytes: int = 1_000,
    min_benefit_s: float = 0.02,
) -> SpeculationLimits:
    return SpeculationLimits(
        slots=slots,
        candidates=candidates,
        min_confidence=0.15,
        min_benefit_s=min_benefit_s,
        ttl_s=ttl_s,
        result_bytes=100,
        held_bytes=held_bytes,
        held_results=held_results,
    )


class Playbook:
    """A scheduler to talk to."""

    def __init__(
        self,
        bounds: SpeculationLimits | None = None,
        mode: Mode = Mode.SPECULATE,
        capacities: dict[str, ServerCapacity] | None = None,
        budget: BudgetLimits = NO_BUDGET,
        rules: str = RULES,
    ) -> None:
        policy = Policy.parse(rules, "test")
        self.scheduler = Scheduler(policy, bounds or limits(), mode, capacities or {}, budget)

    def __call__(self, now: float, told: Told) -> list[str]:
        return [line(command) for command in self.scheduler.step(told, now)]


def line(command: Command) -> str:
    match command:
        case Launch():
            way = "stage" if command.staged else "rehearse" if command.rehearsal else "launch"
            return f"{way} {command.job} {command.invocation.tool}"
        case Cancel():
            return f"cancel {command.job}"
        case Run():
            return f"run {command.call}"
        case Serve():
            return f"serve {command.call} from {command.job}: {command.result.body.decode()}"
        case Commit():
            return f"commit {command.job} for {command.call}"
        case Promote():
            return f"promote {command.job} for {command.call}"
        case Settled():
            shadow = "shadow " if command.shadow else ""
            return f"{shadow}{command.job} {command.outcome}, ran {command.ran_s:g}, saved {command.saved_s:g}"
        case Refused():
            return f"refused {command.invocation.tool}: {command.reason}"
    assert_never(command)


def call_of(text: str) -> Invocation:
    """`get_item 3` -> an invocation with that argument."""
    tool, _, argument = text.partition(" ")
    return Invocation(tool, {"id": argument})


def guess(text: str, confidence: float = 0.5, source: str = "pattern", expected_s: float | None = None) -> Candidate:
    return Candidate(invocation=call_of(text), confidence=confidence, source=source, expected_s=expected_s)


def predicted(*candidates: Candidate | str, session: str = "s", scope: str = "") -> Predicted:
    guesses = tuple(guess(each) if isinstance(each, str) else each for each in candidates)
    return Predicted(session=session, candidates=guesses, scope=scope)


def writing(tool: str, *newly: Predicted, session: str = "s", more: float = 0.0, **known: Json) -> Narrowed:
    """The session's LLM has written so much of a call."""
    return Narrowed(session=session, outline=Outline(tool, known), more=more, newly=newly)


def wrote(text: str, *newly: Predicted, session: str = "s", more: float = 0.0) -> Narrowed:
    """The session's LLM has written the whole call."""
    call = call_of(text)
    outline = Outline(call.tool, call.arguments, whole=True)
    return Narrowed(session=session, outline=outline, more=more, newly=newly)


def asked(call: int, text: str, session: str = "s", scope: str = "") -> Asked:
    return Asked(call=call, session=session, invocation=call_of(text), scope=scope)


def over(call: int, status: Status | None = Status.OK) -> CallEnded:
    return CallEnded(call=call, status=status)


def done(job: int, body: str = "fine", status: Status = Status.OK) -> JobEnded:
    return JobEnded(job=job, result=ToolResult(body=body.encode(), status=status))


def broke(job: int) -> JobEnded:
    return JobEnded(job=job, result=None)


def committed(job: int, *, happened: bool = True, changed: bool = True) -> Committed:
    return Committed(job=job, done=happened, changed=changed)


def native_began(text: str, call_id: str = "c", session: str = "s") -> EffectBegan:
    return EffectBegan(session=session, call_id=call_id, invocation=call_of(text))


def native_ended(call_id: str = "c", session: str = "s") -> EffectEnded:
    return EffectEnded(session=session, call_id=call_id)


def reachable(root: object) -> int:
    """How many objects hang on this one, code aside."""
    seen: dict[int, object] = {}
    left = [root]
    while left:
        each = left.pop()
        if id(each) not in seen and not isinstance(each, type | ModuleType | FunctionType):
            seen[id(each)] = each
            left.extend(gc.get_referents(each))
    return len(seen)
