"""What is got ready while the agent's LLM thinks, and which calls find it."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from paste_proxy.clock import FakeClock
from paste_proxy.config import Config, Speculating
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import Event, UserMessage
from paste_proxy.proxy.composition import scheduler
from paste_proxy.proxy.hub import preparer as preparing
from paste_proxy.proxy.hub.conductor import Conductor
from paste_proxy.proxy.hub.executor import Executor
from paste_proxy.proxy.hub.foresight import Foresight
from paste_proxy.proxy.hub.hub import Hub
from paste_proxy.proxy.hub.observed import PartSeen
from paste_proxy.proxy.hub.preparation_desk import PreparationDesk
from paste_proxy.proxy.hub.preparation_tally import PreparationTally
from paste_proxy.proxy.hub.preparer import AT_ONCE, KEPT_S, Preparer
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.ports import RunIt
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.preparation import Need, Preparation
from paste_proxy.speculation.preparing import AGAIN_S, Preparations
from paste_proxy.speculation.types import Destination, Mode
from paste_proxy.tools.backend import Preparable
from paste_proxy.wire.types import SeenPart

from .test_hub import POLICY, READ, WRITE, Gated, Kept, Prophet, World, user

CONNECTION, SESSION, FILES = Preparation


@dataclass
class Thing:
    """Something to get ready."""

    need: Need
    ready: bool = False
    apart: bool = False
    gate: asyncio.Event | None = None
    fault: Exception | None = None
    times: int = 0

    async def prepare(self) -> bool:
        self.times += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        before, self.ready = self.ready, True
        return not before


@dataclass
class Prepared(Gated):
    """A backend whose calls need things."""

    things: list[Thing] = field(default_factory=list)
    asked: list[Invocation] = field(default_factory=list)

    def needs(self, invocation: Invocation) -> Iterable[Preparable]:
        self.asked.append(invocation)
        return self.things


def thing(kind: Preparation = CONNECTION, name: str = "a", **more: object) -> Thing:
    return Thing(Need(kind, name), **more)  # type: ignore[arg-type]


@dataclass
class Prepping(World):
    """A running hub with a backend that can get ready."""

    toolbox: Toolbox
    things: list[Thing]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """What was prepared, failed and found, where it is more than nothing."""
        tally = self.tally.preparations
        named = {"prepared": tally.prepared, "failed": tally.failed, "found": tally.found}
        counted = {name: {kind: times for kind, times in one.items() if times} for name, one in named.items()}
        return {name: one for name, one in counted.items() if one}


@asynccontextmanager
async def world(
    *things: Thing,
    foreseen: Iterable[Invocation] = (),
    kinds: Iterable[Preparation] = Preparation,
    mode: Mode = Mode.SPECULATE,
    rules: str = POLICY,
) -> AsyncIterator[Prepping]:
    clock, tally, log, backend = FakeClock(), Tally(), Kept(), Prepared(things=list(things))

    def says(event: Event) -> list[Invocation]:
        return list(foreseen) if isinstance(event, UserMessage) else []

    policy, prophet = Policy.parse(rules, "test"), Prophet(says)
    toolbox = Toolbox(annotated=policy.annotated)
    toolbox.offer("", "", backend, ["read", "write"])
    brain = scheduler(Config(speculation=Speculating(mode=mode)), policy)
    sessions = Sessions(lambda: prophet, limit=10, idle_s=100)
    hub = Hub(toolbox=toolbox, deadline=brain.next_deadline, tally=tally, clock=clock, inbox_limit=100)
    executor, preparer = Executor(hub.post), Preparer(tally.preparations, clock)
    desk = PreparationDesk(
        preparations=Preparations(policy, frozenset(Destination), kinds, 0.1),
        preparer=preparer,
        toolbox=toolbox,
        sessions=sessions,
        tally=tally,
        clock=clock,
    )
    conductor = Conductor(
        scheduler=brain,
        sessions=sessions,
        toolbox=toolbox,
        foresight=Foresight(toolbox, frozenset(), lambda *_: None),
        executor=executor,
        log=log,
        tally=tally,
        clock=clock,
        preparations=desk,
    )
    hub.start(conductor)
    try:
        yield Prepping(hub, backend, prophet, log, tally, clock, executor, sessions, toolbox, list(things))
    finally:
        await hub.close()
        await executor.close()
        await preparer.close()


async def test_it_is_got_ready_for_a_call_that_no_rule_lets_be_run_ahead_and_the_call_finds_it() -> None:
    async with world(thing(), thing(SESSION, "b"), foreseen=[WRITE]) as w:
        await w.hear(user("write a"))
        await w.settle()
        assert w.counts == {"prepared": {"connection": 1, "session": 1}}
        assert w.tally.launched == 0
        assert isinstance(await w.ask(WRITE), RunIt)
        await w.ask(WRITE)
        assert w.counts["found"] == {"connection": 1, "session": 1}, "once"
        assert not w.tally.faults


async def test_a_call_that_runs_ahead_needs_nothing_beside() -> None:
    async with world(thing(), foreseen=[READ]) as w:
        await w.hear(user("read a"))
        await w.settle()
        assert (w.tally.launched, w.counts) == (1, {})


async def test_what_only_calls_run_ahead_use_is_found_by_them_alone() -> None:
    own = thing(SESSION, "own", apart=True)
    async with world(own, foreseen=[WRITE]) as w:
        await w.hear(user("write a"))
        await w.settle()
        writing = await w.ask(WRITE)
        assert isinstance(writing, RunIt)
        w.hub.ended(writing.ticket, ToolResult(body=b"done"))
        assert "found" not in w.counts
        w.prophet.says = lambda event: [READ] if isinstance(event, UserMessage) else []
        await w.hear(user("write a"), user("read a"))
        assert (w.tally.launched, w.counts["found"]) == (1, {"session": 1})


async def test_only_what_is_wanted_is_got_ready() -> None:
    things = thing(), thing(SESSION, "b"), thing(FILES, "c")
    async with world(*things, foreseen=[WRITE], kinds=[FILES]) as w:
        await w.hear(user("write a"))
        await w.settle()
        assert [each.times for each in things] == [0, 0, 1]


async def test_a_session_that_wants_nothing_run_ahead_has_nothing_got_ready() -> None:
    async with world(one := thing(), foreseen=[WRITE]) as w:
        await w.hear(user("hello"))
        assert one.times == 1
        w.clock.advance(AGAIN_S)
        session = w.sessions.get("s")
        assert session is not None
        session.ahead = False
        exchange = await w.hear(user("hello"), user("write a"))
        w.hub.post(PartSeen(exchange, SeenPart(order=0, name="write", arguments={})))
        await w.settle()
        assert one.times == 1


async def test_the_call_that_the_llm_writes_is_got_ready_for_by_its_tool_alone() -> None:
    async with world(one := thing()) as w:
        exchange = await w.hear(user("hello"))
        w.hub.post(PartSeen(exchange, SeenPart(order=0, name="write", arguments={})))
        await w.settle()
        assert (one.times, w.counts) == (1, {"prepared": {"connection": 1}})
        assert isinstance(w.backend, Prepared)
        assert w.backend.asked == [Invocation("write", {})]


async def test_the_same_is_not_looked_after_twice_in_a_moment() -> None:
    async with world(one := thing(fault=UpstreamFault("away")), foreseen=[WRITE]) as w:
        await w.hear(user("1"))
        await w.hear(user("1"), user("2"))
        assert one.times == 1
        w.clock.advance(AGAIN_S)
        await w.hear(user("1"), user("2"), user("3"))
        assert one.times == 2
        assert w.counts == {"failed": {"connection": 2}}


async def test_a_fault_of_ours_in_it_ends_nothing() -> None:
    async with world(thing(), foreseen=[WRITE]) as w:
        w.backend.needs = lambda invocation: 1 / 0  # type: ignore[attr-defined]
        with capture_logs():
            await w.hear(user("write a"))
            assert isinstance(await w.ask(WRITE), RunIt)
        assert set(w.tally.faults) == {"prepare"}


def bare() -> tuple[Preparer, PreparationTally, FakeClock]:
    tally, clock = PreparationTally(), FakeClock()
    return Preparer(tally, clock), tally, clock


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_few_are_got_ready_at_once_and_those_beyond_are_let_be() -> None:
    preparer, tally, _ = bare()
    gate = asyncio.Event()
    things = [thing(name=str(number), gate=gate) for number in range(AT_ONCE + 1)]
    for each in things:
        preparer.prepare(each)
    await settle()
    assert [each.times for each in things] == [1] * AT_ONCE + [0]
    gate.set()
    await settle()
    preparer.prepare(things[-1])
    await settle()
    assert tally.prepared[CONNECTION] == AT_ONCE + 1
    await preparer.close()


async def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "_LONGEST_S", 0.0)
    preparer, tally, _ = bare()
    preparer.prepare(thing(gate=asyncio.Event()))
    await settle()
    assert (tally.prepared, tally.failed[CONNECTION]) == ({}, 1)
    await preparer.close()


@pytest.mark.parametrize(("gone", "later_s", "found"), [(False, KEPT_S, 1), (False, KEPT_S + 1, 0), (True, 1.0, 0)])
async def test_what_is_gone_or_long_past_is_not_found(gone: bool, later_s: float, found: int) -> None:
    preparer, tally, clock = bare()
    preparer.prepare(one := thing())
    await settle()
    one.ready = not gone
    clock.advance(later_s)
    preparer.used(one)
    assert tally.found[CONNECTION] == found


async def test_what_was_ready_anyway_is_neither_prepared_nor_found() -> None:
    preparer, tally, _ = bare()
    preparer.prepare(one := thing(ready=True))
    await settle()
    preparer.used(one)
    assert (tally.prepared, tally.failed, tally.found) == ({}, {}, {})


async def test_closing_stops_what_is_under_way() -> None:
    preparer, tally, _ = bare()
    preparer.prepare(thing(gate=asyncio.Event()))
    await settle()
    await preparer.close()
    assert (tally.prepared, tally.failed) == ({}, {})
