"""Tools in another process, seen from the sidecar."""

import asyncio
import gc
from itertools import count

import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.tools.socket import Courier, JobResult, SocketBackend

READ = Invocation("read", {"path": "a"})


class Process:
    """The other end, noting what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []
        self.courier = Courier(
            run=lambda job, invocation: self.heard.append(("run", job, invocation.key)),
            cancel=lambda job: self.heard.append(("cancel", job)),
            forget=lambda job: self.heard.append(("forget", job)),
        )


async def test_a_job_is_sent_and_its_end_is_the_result_that_names_it() -> None:
    process = Process()
    backend = SocketBackend(process.courier, count(4))
    run = asyncio.create_task(backend.run(READ, speculative=True))
    await asyncio.sleep(0)
    assert process.heard == [("run", 4, READ.key)]
    assert backend.running(READ.key) == 4
    assert backend.ended(4, ToolResult(body=b"[1]", status=Status.OK))
    result = await run
    assert isinstance(result, JobResult)
    assert (result.job, result.body) == (4, b"[1]")
    assert backend.running(READ.key) is None
    assert not backend.ended(4, None), "it is over"


async def test_the_process_hears_when_nobody_can_want_a_value_any_more() -> None:
    process = Process()
    backend = SocketBackend(process.courier, count(1))
    run = asyncio.create_task(backend.run(READ, speculative=True))
    await asyncio.sleep(0)
    backend.ended(1, ToolResult(body=b"[1]"))
    await run
    assert ("forget", 1) not in process.heard
    del run
    await asyncio.sleep(0)  # the loop holds a task until its waiter's next step
    gc.collect()
    assert process.heard[-1] == ("forget", 1)


async def test_a_cancelled_run_is_cancelled_over_there() -> None:
    process = Process()
    backend = SocketBackend(process.courier, count(1))
    run = asyncio.create_task(backend.run(READ, speculative=True))
    await asyncio.sleep(0)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert process.heard[-1] == ("cancel", 1)


async def test_a_job_that_was_not_run_is_a_fault() -> None:
    backend = SocketBackend(Process().courier, count(1))
    run = asyncio.create_task(backend.run(READ, speculative=True))
    await asyncio.sleep(0)
    backend.ended(1, None)
    with pytest.raises(UpstreamFault, match="did not run"):
        await run


async def test_after_a_disconnect_running_jobs_fail_and_new_ones_are_refused() -> None:
    backend = SocketBackend(Process().courier, count(1))
    run = asyncio.create_task(backend.run(READ, speculative=True))
    await asyncio.sleep(0)
    await backend.close()
    await backend.close()
    with pytest.raises(UpstreamFault, match="disconnected"):
        await run
    with pytest.raises(UpstreamFault, match="disconnected"):
        await backend.run(READ, speculative=True)
