"""The hub with a backend that stages: effects happen between the asking and the answer, or the call is run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from paste_proxy.clock import FakeClock
from paste_proxy.config import Config, Speculating
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import Event, Outcome, UserMessage
from paste_proxy.proxy.composition import scheduler
from paste_proxy.proxy.hub.conductor import Conductor
from paste_proxy.proxy.hub.executor import Executor
from paste_proxy.proxy.hub.foresight import Foresight
from paste_proxy.proxy.hub.hub import Hub
from paste_proxy.proxy.hub.observed import CallSeen, Exchange, RequestSeen
from paste_proxy.proxy.hub.reading import reading
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.ports import AgentCall, RunIt, ServeIt
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode
from paste_proxy.tools.backend import Held
from paste_proxy.wire.types import LlmRequest, Message, SeenCall, SeenOutput

from .test_hub import Kept, Prophet

POLICY = '[[rule]]\ntool = "run"\neffect = "write"\nstage = true\nwrites = ["disk"]\nexpected_s = 20.0\n'
BUILD = Invocation("run", {"command": "make"})
CLEAN = Invocation("run", {"command": "make clean"})
BUILT = ToolResult(body=b'"built"')


@dataclass
class Run:
    """What a staged run holds back; it happens when the test says so."""

    can_happen: bool
    may_happen: asyncio.Event = field(default_factory=asyncio.Event)
    happened: bool = False
    let_go: bool = False
    result: ToolResult = BUILT
    changes: bool = True

    async def commit(self) -> bool:
        await self.may_happen.wait()
        self.happened = self.can_happen
        return self.can_happen

    async def discard(self) -> None:
        self.let_go = True


@dataclass
class Desk:
    """A backend that stages `make` and nothing else."""

    can_happen: bool = True
    runs: list[Run] = field(default_factory=list)

    def stages(self, invocation: Invocation) -> bool:
        return invocation == BUILD

    async def stage(self, invocation: Invocation, wanted: asyncio.Event) -> Held:
        self.runs.append(Run(self.can_happen))
        return self.runs[-1]

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise AssertionError("a write was run ahead")

    async def close(self) -> None:
        return


@dataclass
class World:
    hub: Hub
    desk: Desk
    tally: Tally
    executor: Executor
    exchange: Exchange

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def writes(self, call: Invocation, call_id: str = "c1") -> None:
        """The LLM has written a call."""
        self.hub.post(
            CallSeen(self.exchange, SeenCall(order=0, call_id=call_id, name=call.tool, arguments=dict(call.arguments)))
        )
        await self.settle()

    async def asks(self) -> "asyncio.Task[RunIt | ServeIt]":
        asked = asyncio.create_task(self.hub.ask(AgentCall(invocation=BUILD, session="s")))
        await self.settle()
        return asked


FIRST = Message(role="user", text="build it", digest=b"1")


def request(exchange: Exchange, *messages: Message) -> RequestSeen:
    return RequestSeen(exchange, reading(LlmRequest(model="m", stream=True, messages=messages, tools=("run",))), "s")


@asynccontextmanager
async def world(guess: Invocation = BUILD, *, can_happen: bool = True) -> AsyncIterator[World]:
    """A session whose user has spoken, so that the guess has been run ahead."""
    clock, tally, desk, toolbox, policy = (
        FakeClock(),
        Tally(),
        Desk(can_happen),
        Toolbox(),
        Policy.parse(POLICY, "test"),
    )
    toolbox.offer("", "", desk, ["run"])
    brain = scheduler(Config(speculation=Speculating(mode=Mode.SPECULATE, min_confidence=0.15)), policy)

    def says(event: Event) -> list[Invocation]:
        return [guess] if isinstance(event, UserMessage) else []

    sessions = Sessions(lambda: Prophet(says), limit=10, idle_s=100)
    hub = Hub(toolbox=toolbox, deadline=brain.next_deadline, tally=tally, clock=clock, inbox_limit=100)
    executor = Executor(hub.post)

    def not_executable(*_: object) -> None:
        tally.refused["not_executable"] += 1

    foresight = Foresight(toolbox, frozenset(), not_executable, staged=lambda call: policy.rule_for(call).staged)
    hub.start(
        Conductor(
            scheduler=brain,
            sessions=sessions,
            toolbox=toolbox,
            foresight=foresight,
            executor=executor,
            log=Kept(),
            tally=tally,
            clock=clock,
        )
    )
    w = World(hub, desk, tally, executor, Exchange())
    hub.post(request(w.exchange, FIRST))
    await w.settle()
    try:
        yield w
    finally:
        for run in desk.runs:
            run.may_happen.set()
        await hub.close()
        await executor.close()


async def test_an_answer_is_given_after_the_effects_have_happened() -> None:
    async with world() as w:
        asked = await w.asks()
        (run,) = w.desk.runs
        assert not asked.done()
        run.may_happen.set()
        assert await asked == ServeIt(BUILT, Outcome.REUSED, 1)
        assert run.happened


async def test_a_call_whose_effects_cannot_happen_is_run() -> None:
    async with world(can_happen=False) as w:
        asked = await w.asks()
        w.desk.runs[0].may_happen.set()
        assert isinstance(await asked, RunIt)


async def test_a_command_that_cannot_be_staged_is_no_candidate() -> None:
    async with world(Invocation("run", {"command": "ssh host"})) as w:
        assert w.desk.runs == []
        assert w.tally.refused == {"not_executable": 1}


async def test_what_nobody_asked_for_is_let_go_at_the_end() -> None:
    async with world() as w:
        (run,) = w.desk.runs
    assert (run.happened, run.let_go) == (False, True)


@pytest.mark.parametrize("can_happen", [True, False])
async def test_at_the_end_a_call_is_not_run_beside_what_happens_for_it(can_happen: bool) -> None:
    async with world(can_happen=can_happen) as w:
        asked = await w.asks()
        await w.hub.close()
        await w.settle()
        assert not asked.done()
        w.desk.runs[0].may_happen.set()
        decision = await asked
        assert decision == ServeIt(BUILT, Outcome.REUSED, 1) if can_happen else isinstance(decision, RunIt)


async def test_effects_that_happen_for_an_agent_that_has_gone_are_seen_to_their_end() -> None:
    async with world() as w:
        asked = await w.asks()
        asked.cancel()
        await w.settle()
        w.desk.runs[0].may_happen.set()
        await w.settle()
        assert w.desk.runs[0].happened
        assert w.tally.outcomes == {"reused": 1}


async def test_a_call_that_the_llm_has_written_leaves_its_own_staged_run_standing() -> None:
    async with world() as w:
        await w.writes(BUILD)
        asked = await w.asks()
        w.desk.runs[0].may_happen.set()
        assert await asked == ServeIt(BUILT, Outcome.REUSED, 1)


async def test_one_whose_effects_we_could_not_hold_back_may_have_them_from_then_on() -> None:
    async with world() as w:
        await w.writes(CLEAN)
        assert w.desk.runs[0].let_go


async def test_a_call_that_stands_written_is_staged_no_more() -> None:
    async with world(CLEAN) as w:
        await w.writes(BUILD)
        assert w.desk.runs == []
        assert w.tally.refused == {"not_executable": 1}, "of the guess alone"


async def test_a_call_that_was_made_elsewhere_all_the_same_has_had_its_effects() -> None:
    async with world() as w:
        await w.writes(BUILD)
        assert not w.desk.runs[0].let_go
        answer = Message(role="tool", text="", digest=b"2", output=SeenOutput(call_id="c1", output="built"))
        w.hub.post(request(Exchange(), FIRST, answer))
        await w.settle()
        assert w.desk.runs[0].let_go
