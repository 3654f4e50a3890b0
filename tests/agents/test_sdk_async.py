"""An asyncio agent behind the SDK: jobs run in its own loop, waiting never blocks it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from paste_proxy import Sidecar
from tests.agents.scripted import SOON, Served, served


@pytest.fixture
async def sidecar() -> AsyncIterator[Served]:
    async with served() as live:
        yield live


@pytest.fixture
async def paste(sidecar: Served) -> AsyncIterator[Sidecar]:
    async with Sidecar(sidecar.url, session="task", patience_s=SOON) as paste:
        yield paste


async def test_an_authoritative_call_runs_in_the_callers_own_task(paste: Sidecar) -> None:
    @paste.tool
    async def where() -> str:
        task = asyncio.current_task()
        assert task is not None
        return task.get_name()

    task = asyncio.create_task(where(), name="the agent")
    assert await task == "the agent"


async def test_a_job_runs_in_the_agents_loop_and_its_object_is_reused(sidecar: Served, paste: Sidecar) -> None:
    made: list[object] = []

    @paste.tool
    async def fetch(url: str) -> object:
        assert asyncio.get_running_loop() is loop
        made.append(object())
        return made[-1]

    loop = asyncio.get_running_loop()
    await fetch("first")
    await (await sidecar.gate.launch("task", "fetch", {"url": "u"}))
    assert await fetch("u") is made[1]
    assert len(made) == 2
    assert paste.stats.reused == 1


async def test_the_first_call_of_an_agent_that_connected_on_its_loop_can_be_foreseen(
    sidecar: Served, paste: Sidecar
) -> None:
    @paste.tool
    async def fetch(url: str) -> str:
        return url

    await (await sidecar.gate.launch("task", "fetch", {"url": "u"}))
    assert await fetch("u") == "u"
    assert paste.stats.reused == 1


async def test_a_job_of_an_async_tool_is_refused_while_no_loop_is_known(sidecar: Served) -> None:
    def agent() -> Sidecar:
        paste = Sidecar(sidecar.url, session="blocking", patience_s=SOON)
        paste.connect()
        return paste

    paste = await asyncio.to_thread(agent)

    @paste.tool
    async def fetch(url: str) -> str:
        return url

    job = await sidecar.gate.launch("blocking", "fetch", {"url": "u"})
    await asyncio.wait([job], timeout=SOON)
    assert job.exception() is not None
    assert await fetch("u") == "u"
    await asyncio.to_thread(paste.close)


@pytest.mark.parametrize("first_call", ["async", "sync"])
async def test_after_its_first_call_on_a_loop_the_next_can_be_foreseen(sidecar: Served, first_call: str) -> None:
    def connected() -> Sidecar:
        paste = Sidecar(sidecar.url, session="blocking", patience_s=SOON if first_call == "async" else 0.05)
        paste.connect()
        return paste

    paste = await asyncio.to_thread(connected)

    @paste.tool
    async def fetch(url: str) -> str:
        return url

    @paste.tool
    def look() -> str:
        return "seen"

    assert (await fetch("first") if first_call == "async" else look()) in ("first", "seen")
    await (await sidecar.gate.launch("blocking", "fetch", {"url": "u"}))
    assert await fetch("u") == "u"
    assert (paste.stats.reused, paste.stats.jobs_refused) == (1, 0)
    await asyncio.to_thread(paste.close)


async def test_a_promoted_call_waits_without_blocking_the_loop(sidecar: Served, paste: Sidecar) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def dispatch(name: str, arguments: dict[str, object]) -> str:
        if arguments:
            entered.set()
            await leave.wait()
        return name

    wrapped = paste.wrap(dispatch)
    await wrapped("read", {})
    await sidecar.gate.launch("task", "read", {"path": "a"})
    await entered.wait()
    call = asyncio.create_task(wrapped("read", {"path": "a"}))
    await sidecar.gate.until(lambda: len(sidecar.gate.asked) == 2)
    leave.set()
    assert await call == "read"
    assert paste.stats.promoted == 1


async def test_a_cancelled_job_is_stopped(sidecar: Served, paste: Sidecar) -> None:
    entered, stopped = asyncio.Event(), asyncio.Event()

    @paste.tool
    async def slow(n: int) -> None:
        if n:
            entered.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

    await slow(0)
    await sidecar.gate.launch("task", "slow", {"n": 1})
    await entered.wait()
    sidecar.gate.forget("task", "slow", {"n": 1})
    async with asyncio.timeout(SOON):
        await stopped.wait()


async def test_an_agent_that_is_cancelled_while_it_waits_leaves_nothing_open(sidecar: Served, paste: Sidecar) -> None:
    entered = asyncio.Event()

    @paste.tool
    async def slow(n: int) -> int:
        if n:
            entered.set()
            await asyncio.Event().wait()
        return n

    await slow(0)
    await sidecar.gate.launch("task", "slow", {"n": 1})
    await entered.wait()
    call = asyncio.create_task(slow(1))
    await sidecar.gate.until(lambda: len(sidecar.gate.asked) == 2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await slow(2 - 2) == 0


async def test_a_run_that_is_cancelled_ends_with_its_effect_unknown(sidecar: Served, paste: Sidecar) -> None:
    entered = asyncio.Event()

    @paste.tool
    async def write() -> None:
        entered.set()
        await asyncio.Event().wait()

    call = asyncio.create_task(write())
    await entered.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await sidecar.gate.until(lambda: bool(sidecar.gate.over))
    assert list(sidecar.gate.over.values()) == [None]


async def test_a_value_that_tells_of_an_error_is_reported_as_one(sidecar: Served, paste: Sidecar) -> None:
    @paste.tool(name="look_up", failed=lambda value: "error" in value)
    async def search(query: str) -> dict[str, str]:
        return {"error": query}

    assert await search("q") == {"error": "q"}
    await sidecar.gate.until(lambda: bool(sidecar.gate.over))
    (result,) = sidecar.gate.over.values()
    assert result is not None
    assert result.status == "error"
    assert sidecar.gate.asked[0].invocation.tool == "look_up"
