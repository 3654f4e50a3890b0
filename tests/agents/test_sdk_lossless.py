"""Any interleaving of calls and jobs gives the agent what it gets without the SDK."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paste_proxy import Sidecar
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.ports import AgentCall, Decision, RunIt
from tests.agents.scripted import SOON, ScriptedGate, Served, served


@dataclass(frozen=True)
class Read:
    key: str


@dataclass(frozen=True)
class Write:
    key: str
    value: int


@dataclass(frozen=True)
class Foresee:
    """A job for a read is launched; `settle`: and is over before the agent goes on."""

    key: str
    settle: bool


@dataclass(frozen=True)
class Deafness:
    """The sidecar will not answer the next call."""


@dataclass(frozen=True)
class Break:
    """Every connection breaks."""


Step: TypeAlias = Read | Write | Foresee | Deafness | Break

KEYS = st.sampled_from(["a", "b"])
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(Read, KEYS),
    st.builds(Write, KEYS, st.integers(0, 9)),
    st.builds(Foresee, KEYS, st.booleans()),
    st.builds(Foresee, KEYS, st.booleans()),
    st.just(Deafness()),
    st.just(Break()),
)


class CarefulGate(ScriptedGate):
    """Serves nothing that a write may have made stale."""

    def __init__(self) -> None:
        super().__init__()
        self.deaf_once = False
        self._writing = 0
        self._writes: set[int] = set()
        self._stuck = False
        """A write's question was not answered, so its end will never come."""

    async def ask(self, call: AgentCall) -> Decision:
        if call.invocation.tool == "read":
            return await self._unless_deaf(call, serve=self._writing == 0)
        self._writing += 1
        self.void()
        decision = await self._unless_deaf(call, serve=False)
        assert isinstance(decision, RunIt)
        self._writes.add(decision.ticket)
        return decision

    async def _unless_deaf(self, call: AgentCall, *, serve: bool) -> Decision:
        if self.deaf_once:
            self.deaf_once = False
            self._stuck = self._stuck or not serve
            await asyncio.Event().wait()
        if not serve:
            self.void()
        return await super().ask(call)

    def ended(self, ticket: int, result: ToolResult | None) -> None:
        if ticket in self._writes:
            self._writing -= 1
            self.void()
        super().ended(ticket, result)

    async def foresee(self, step: Foresee) -> None:
        """Launch a job if a scope offers the tool just now."""
        if step.settle and not self._stuck:
            await self.until(lambda: self._writing == 0)
        for scope, (_, tools) in self.offers.items():
            if "read" in tools:
                job = await self.launch(scope.partition("/")[2], "read", {"key": step.key})
                if step.settle:
                    await asyncio.wait([job], timeout=SOON)
                return


class Shop:
    """Tools with a state."""

    def __init__(self) -> None:
        self.state: dict[str, int] = {}

    def read(self, key: str) -> list[int]:
        return [self.state[key]]

    def write(self, key: str, value: int) -> int | None:
        before = self.state.get(key)
        self.state[key] = value
        return before


def seen(act: Callable[[], object]) -> object:
    try:
        return act()
    except KeyError as fault:
        return repr(fault)


def alone(steps: Iterable[Step]) -> tuple[list[object], dict[str, int]]:
    shop, view = Shop(), list[object]()
    for step in steps:
        if isinstance(step, Read):
            view.append(seen(lambda key=step.key: shop.read(key)))  # type: ignore[misc]
        elif isinstance(step, Write):
            view.append(shop.write(step.key, step.value))
    return view, shop.state


async def behind(live: Served, gate: CarefulGate, steps: list[Step]) -> tuple[list[object], dict[str, int]]:
    loop, shop, view = asyncio.get_running_loop(), Shop(), list[object]()

    def agent() -> None:
        with Sidecar(live.url, session="task", patience_s=0.05) as paste:
            read, write = paste.tool(shop.read), paste.tool(shop.write)
            asyncio.run_coroutine_threadsafe(gate.scope_offering("task", "read"), loop).result(SOON)
            for step in steps:
                match step:
                    case Read(key):
                        view.append(seen(lambda key=key: read(key)))  # type: ignore[misc]
                    case Write(key, value):
                        view.append(write(key, value))
                    case Foresee():
                        asyncio.run_coroutine_threadsafe(gate.foresee(step), loop).result(SOON)
                    case Deafness():
                        gate.deaf_once = True
                    case Break():
                        asyncio.run_coroutine_threadsafe(live.break_connections(), loop).result(SOON)

    await asyncio.to_thread(agent)
    return view, shop.state


async def both(steps: list[Step]) -> None:
    gate = CarefulGate()
    async with served(gate=gate) as live:
        assert await behind(live, gate, steps) == alone(steps)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, max_size=14))
def test_any_interleaving_gives_the_same_view_and_state(steps: list[Step]) -> None:
    asyncio.run(both(steps))


def test_the_gate_of_this_test_does_serve_what_it_may() -> None:
    async def once() -> None:
        gate = CarefulGate()
        async with served(gate=gate) as live:
            steps: list[Step] = [Write("a", 1), Foresee("a", settle=True), Read("a")]
            view, _ = await behind(live, gate, steps)
            assert view == [None, [1]]
            assert Invocation("read", {"key": "a"}) in [call.invocation for call in gate.asked]
            assert len(gate.over) == 1, "the read was served"

    asyncio.run(once())
