"""The SDK's WebSocket, spoken to frame by frame."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.agents import protocol
from paste_proxy.agents.protocol import FromAgent, FromSidecar
from paste_proxy.config import Config
from paste_proxy.events.result import Status
from paste_proxy.proxy.dispatch.route import add_dispatch_routes
from tests.agents.scripted import SOON, ScriptedGate, Served, served


class Agent:
    """A client that says what it likes."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def say(self, *messages: FromAgent) -> None:
        for message in messages:
            await self.socket.send_str(protocol.encode(message))

    async def hear(self) -> FromSidecar:
        return protocol.read_from_sidecar(await self.socket.receive_str(timeout=SOON))


@pytest.fixture
async def live() -> AsyncIterator[Served]:
    async with served() as live:
        yield live


Connect: TypeAlias = Callable[[], Awaitable[Agent]]


@pytest.fixture
async def connect(live: Served) -> AsyncIterator[Connect]:
    async with aiohttp.ClientSession() as client:

        async def connect() -> Agent:
            return Agent(await client.ws_connect(live.url + protocol.PATH))

        yield connect


@pytest.fixture
async def agent(connect: Connect) -> Agent:
    agent = await connect()
    await agent.say(protocol.Hello(version=protocol.VERSION))
    assert await agent.hear() == protocol.Welcome(version=protocol.VERSION)
    return agent


def call(number: int, tool: str = "read", arguments: dict[str, object] | None = None) -> protocol.Call:
    return protocol.Call(call=number, session="task", tool=tool, arguments=arguments)


async def test_another_version_is_refused_with_both_named(connect: Connect) -> None:
    agent = await connect()
    await agent.say(protocol.Hello(version=9))
    refusal = await agent.hear()
    assert isinstance(refusal, protocol.Refusal)
    assert "version 9" in refusal.reason
    assert (await agent.socket.receive(timeout=SOON)).type is aiohttp.WSMsgType.CLOSE


@pytest.mark.parametrize("text", ["{}", "nonsense", '{"type":"leave","session":"s"}', '{"type":"hello","version":[]}'])
async def test_who_does_not_say_hello_is_refused(connect: Connect, text: str) -> None:
    agent = await connect()
    await agent.socket.send_str(text)
    assert isinstance(await agent.hear(), protocol.Refusal)


async def test_a_call_that_waits_for_a_job_is_told_so_and_then_gets_it(live: Served, agent: Agent) -> None:
    await agent.say(protocol.Offer(session="task", tools=("read",)))
    await live.gate.launch("task", "read", {"path": "a"})
    assert await agent.hear() == protocol.Run(job=1, session="task", tool="read", arguments={"path": "a"})
    await agent.say(call(1, arguments={"path": "a"}))
    assert await agent.hear() == protocol.Wait(call=1, job=1)
    await agent.say(protocol.Ended(job=1, status=Status.OK, preview="[1]"))
    assert await agent.hear() == protocol.Use(call=1, job=1, outcome="promoted")
    await agent.say(call(2, arguments={"path": "a"}))
    heard = [await agent.hear(), await agent.hear()]
    assert protocol.Alone(call=2) in heard
    assert protocol.Drop(job=1) in heard, "the gate has let go of the value"


async def test_a_call_that_ran_before_its_decision_is_ended_once_both_are_known(live: Served, agent: Agent) -> None:
    await agent.say(protocol.Offer(session="task", tools=("read", "slow")))
    await live.gate.launch("task", "read", {})
    assert isinstance(await agent.hear(), protocol.Run)
    await agent.say(call(1, arguments={}), protocol.Done(call=1, status=Status.OK, preview="mine"))
    assert await agent.hear() == protocol.Wait(call=1, job=1)
    assert not live.gate.over
    await agent.say(protocol.Ended(job=1, status=None))
    assert await agent.hear() == protocol.Alone(call=1)
    (result,) = live.gate.over.values()
    assert result is not None
    assert result.body == b"mine"


async def test_calls_that_cannot_be_served_are_asked_about_in_order_and_are_all_different(
    live: Served, agent: Agent
) -> None:
    await agent.say(call(1, "write"), call(2, "write"), call(3, "read", {"path": "a"}))
    assert [await agent.hear() for _ in range(3)] == [protocol.Alone(call=n) for n in (1, 2, 3)]
    asked = [question.invocation for question in live.gate.asked]
    assert [invocation.tool for invocation in asked] == ["write", "write", "read"]
    assert asked[0] != asked[1]


async def test_a_session_that_is_left_is_withdrawn_and_its_jobs_cancelled(live: Served, agent: Agent) -> None:
    await agent.say(protocol.Offer(session="task", tools=("read",)), protocol.Offer(session="next", tools=("read",)))
    job = await live.gate.launch("task", "read", {})
    assert isinstance(await agent.hear(), protocol.Run)
    await agent.say(protocol.Leave(session="task"))
    assert await agent.hear() == protocol.Cancel(job=1)
    await asyncio.wait([job], timeout=SOON)
    assert [scope.partition("/")[2] for scope in live.gate.offers] == ["next"]


async def test_two_processes_with_one_session_have_scopes_of_their_own(live: Served, connect: Connect) -> None:
    for _ in range(2):
        agent = await connect()
        await agent.say(protocol.Hello(version=protocol.VERSION), protocol.Offer(session="task", tools=("read",)))
        await agent.hear()
    await live.gate.until(lambda: len(live.gate.offers) == 2)


async def test_an_end_of_something_unknown_is_ignored(live: Served, agent: Agent) -> None:
    await agent.say(
        protocol.Done(call=9, status=Status.OK), protocol.Ended(job=9, status=Status.OK), protocol.Leave(session="x")
    )
    await agent.say(call(1, arguments={}))
    assert await agent.hear() == protocol.Alone(call=1)


async def test_a_gate_that_breaks_lets_the_agent_run(
    live: Served, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: ScriptedGate, asked: object) -> object:
        raise RuntimeError("ours")

    monkeypatch.setattr(ScriptedGate, "ask", broken)
    await agent.say(call(1, arguments={}))
    assert await agent.hear() == protocol.Alone(call=1)


async def test_a_shutdown_says_goodbye_to_agents_instead_of_waiting_for_them() -> None:
    app = web.Application()
    add_dispatch_routes(app, Config(), ScriptedGate())
    runner = web.AppRunner(app, shutdown_timeout=60)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with aiohttp.ClientSession() as client:
        socket = await client.ws_connect(f"http://127.0.0.1:{runner.addresses[0][1]}{protocol.PATH}")
        async with asyncio.timeout(SOON):
            cleanup = asyncio.create_task(runner.cleanup())
            assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
            await cleanup
