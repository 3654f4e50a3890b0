"""Jobs are sent when their backend can send them, and what a cancelled job was waiting for goes on."""

import asyncio

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.hub.executor import Executor
from paste_proxy.speculation.types import JobEnded, JobSent

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
    told: asyncio.Queue[JobEnded | JobSent] = asyncio.Queue()
    executor, backend = Executor(told.put_nowait), Slow()
    assert not executor.launch(1, READ, backend)
    backend.open.set()
    assert await asyncio.wait_for(told.get(), 5) == JobSent(job=1)
    assert await asyncio.wait_for(told.get(), 5) == JobEnded(job=1, result=ToolResult(body=b"1"))
    assert executor.launch(2, READ, backend)
    await executor.close()


async def test_a_job_cancelled_while_it_waits_is_never_sent() -> None:
    told: asyncio.Queue[JobEnded | JobSent] = asyncio.Queue()
    executor, backend = Executor(told.put_nowait), Slow()
    executor.launch(1, READ, backend)
    executor.cancel(1)
    assert await asyncio.wait_for(told.get(), 5) == JobEnded(job=1, result=None)
    assert backend.ran == []
