"""Jobs are sent when their backend can send them, and what a cancelled job was waiting for goes on."""

import asyncio
from typing import TypeAlias

import pytest

from paste_proxy.errors import UpstreamBusy
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.hub.executor import Executor
from paste_proxy.speculation.types import Committed, JobEnded, JobSent
from paste_proxy.tools.backend import Held, PartDone

Told: TypeAlias = asyncio.Queue[JobEnded | JobSent | Committed]
READ = Invocation("fs/read", {"path": "a"})


class Slow:
    """A backend whose connection opens when the test says so."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.ran: list[Invocation] = []

    @property
    def connected(self) -> bool:
        return self.open.is_set()

    async def connect(self) -> None:
        await self.open.wait()

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        assert self.connected
        self.ran.append(invocation)
        return ToolResult(body=b"1")

    async def close(self) -> None:
        return


async def test_a_job_is_told_as_sent_when_its_connection_is_open() -> None:
    told: Told = asyncio.Queue()
    executor, backend = Executor(told.put_nowait), Slow()
    assert not executor.launch(1, READ, backend)
    backend.open.set()
    assert await asyncio.wait_for(told.get(), 5) == JobSent(job=1)
    assert await asyncio.wait_for(told.get(), 5) == JobEnded(job=1, result=ToolResult(body=b"1"))
    assert executor.launch(2, READ, backend)
    await executor.close()


async def test_a_job_cancelled_while_it_waits_is_never_sent() -> None:
    told: Told = asyncio.Queue()
    executor, backend = Executor(told.put_nowait), Slow()
    executor.launch(1, READ, backend)
    executor.cancel(1)
    assert await asyncio.wait_for(told.get(), 5) == JobEnded(job=1, result=None)
    assert backend.ran == []


class Modest(Slow):
    """A backend that gives way; what it is asked ends once an agent waits for it."""

    async def run_aside(self, invocation: Invocation, wanted: asyncio.Event) -> ToolResult:
        await wanted.wait()
        return ToolResult(body=b"1")


async def test_a_job_that_gives_way_is_told_when_an_agent_waits_for_it() -> None:
    told: Told = asyncio.Queue()
    executor, backend = Executor(told.put_nowait), Modest()
    backend.open.set()
    assert executor.launch(1, READ, backend)
    executor.want(2)
    await asyncio.sleep(0)
    assert executor.running() == 1
    executor.want(1)
    assert await asyncio.wait_for(told.get(), 5) == JobEnded(job=1, result=ToolResult(body=b"1"), aside=True)
    assert (executor.running(), backend.ran) == (0, [])
    await executor.close()


async def test_of_jobs_started_at_once_each_round_of_the_loop_begins_one() -> None:
    told: Told = asyncio.Queue()
    executor, backend = Executor(told.put_nowait), Slow()
    backend.open.set()
    begun = []
    for job in range(4):
        executor.launch(job, READ, backend)
    executor.cancel(2)
    for _ in range(6):
        await asyncio.sleep(0)
        begun.append(len(backend.ran))
    assert begun == [1, 2, 2, 3, 3, 3]
    assert sorted([(await told.get()).job for _ in range(4)]) == [0, 1, 2, 3]
    await executor.close()


class Kept:
    """What a staged run holds back."""

    result = ToolResult(body=b"built")
    changes = True

    def __init__(self, *, can_happen: bool = True) -> None:
        self.can_happen, self.happened, self.left = can_happen, False, False

    async def commit(self) -> bool:
        await asyncio.sleep(0)
        self.happened = self.can_happen
        return self.can_happen

    async def discard(self) -> None:
        self.left = True


class Careful(Slow):
    """A backend that stages; a run ends when the test says so."""

    def __init__(self, kept: Kept) -> None:
        super().__init__()
        self.kept, self.wanted = kept, False

    def stages(self, invocation: Invocation) -> bool:
        return True

    async def stage(self, invocation: Invocation, wanted: asyncio.Event) -> Held:
        await self.open.wait()
        self.wanted = wanted.is_set()
        return self.kept


BUILD = Invocation("desk/run", {"command": "make"})


async def staged(kept: Kept, told: Told) -> Executor:
    executor, backend = Executor(told.put_nowait), Careful(kept)
    executor.stage(1, BUILD, backend)
    backend.open.set()
    assert await asyncio.wait_for(told.get(), 5) == JobEnded(job=1, result=kept.result, aside=True)
    return executor


@pytest.mark.parametrize("can_happen", [True, False])
async def test_what_is_held_back_happens_when_it_is_committed(can_happen: bool) -> None:
    told, kept = Told(), Kept(can_happen=can_happen)
    executor = await staged(kept, told)
    assert not kept.happened
    executor.commit(1)
    assert await asyncio.wait_for(told.get(), 5) == Committed(job=1, done=can_happen)
    await executor.close()
    assert (kept.happened, kept.left) == (can_happen, False)


async def test_of_what_happens_in_part_the_call_is_told() -> None:
    class Broken(Kept):
        async def commit(self) -> bool:
            raise PartDone(ToolResult(body=b"half"))

    told: Told = asyncio.Queue()
    executor = await staged(Broken(), told)
    executor.commit(1)
    assert await asyncio.wait_for(told.get(), 5) == Committed(job=1, done=True, instead=ToolResult(body=b"half"))
    await executor.close()


async def test_a_second_commit_of_a_job_is_told_as_not_done() -> None:
    told, kept = Told(), Kept()
    executor = await staged(kept, told)
    executor.commit(1)
    executor.commit(1)
    assert [await told.get(), await told.get()] == [Committed(job=1, done=False), Committed(job=1, done=True)]


async def test_what_is_held_back_is_let_go_when_its_job_is_cancelled_or_all_ends() -> None:
    told, kept, left = Told(), Kept(), Kept()
    executor = await staged(kept, told)
    executor.cancel(1)
    await executor.close()
    assert kept.left
    await (await staged(left, told)).close()
    assert left.left


async def test_a_staged_job_learns_that_an_agent_waits_for_it() -> None:
    told, backend = Told(), Careful(Kept())
    executor = Executor(told.put_nowait)
    executor.stage(1, BUILD, backend)
    executor.want(1)
    backend.open.set()
    await asyncio.wait_for(told.get(), 5)
    assert backend.wanted
    await executor.close()


async def test_a_staged_job_is_cancelled_while_it_runs() -> None:
    told, backend = Told(), Careful(Kept())
    executor = Executor(told.put_nowait)
    executor.stage(1, BUILD, backend)
    executor.cancel(1)
    assert await asyncio.wait_for(told.get(), 5) == JobEnded(job=1, result=None, aside=True)


class Busy(Slow):
    """A backend whose service wants fewer calls."""

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise UpstreamBusy("slow down", 30.0)


async def test_a_service_that_wants_fewer_calls_is_told_of() -> None:
    told: Told = asyncio.Queue()
    executor, backend = Executor(told.put_nowait), Busy()
    backend.open.set()
    assert executor.launch(1, READ, backend)
    assert await asyncio.wait_for(told.get(), 5) == JobEnded(job=1, result=None, retry_after_s=30.0)
