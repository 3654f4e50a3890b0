"""Jobs in their slots."""

import asyncio
from collections.abc import Iterator
from contextvars import copy_context
from queue import SimpleQueue

import pytest

from paste_proxy.agents.protocol import Ended
from paste_proxy.agents.sdk_call import Call, Own, Take, decision, wait_in_task, wait_in_thread
from paste_proxy.agents.sdk_jobs import JobPool, Tool
from paste_proxy.agents.sdk_stats import Stats
from paste_proxy.events.result import Status
from tests.agents.scripted import SOON


@pytest.fixture
def ends() -> SimpleQueue[Ended]:
    return SimpleQueue()


@pytest.fixture
def pool(ends: SimpleQueue[Ended]) -> Iterator[JobPool]:
    pool = JobPool(1, ends.put, Stats())
    yield pool
    pool.close()


def promise() -> Tool:
    return Tool("later", lambda arguments: (number for number in range(1)), is_async=False)


def test_a_function_that_only_promises_gives_no_value(pool: JobPool, ends: SimpleQueue[Ended]) -> None:
    pool.start(1, promise(), {}, copy_context(), None)
    assert ends.get(timeout=SOON) == Ended(job=1, status=None)
    assert pool.find(1) is None


async def test_whoever_waits_for_a_job_wakes_when_it_gives_no_value(pool: JobPool, ends: SimpleQueue[Ended]) -> None:
    for wait in (wait_in_task, lambda steps: asyncio.to_thread(wait_in_thread, steps)):
        started: SimpleQueue[None] = SimpleQueue()
        go: SimpleQueue[None] = SimpleQueue()

        def tool(
            arguments: dict[str, object], started: SimpleQueue[None] = started, go: SimpleQueue[None] = go
        ) -> object:
            started.put(None)
            go.get(timeout=SOON)
            return (number for number in range(1))

        pool.start(1, Tool("later", tool, is_async=False), {}, copy_context(), None)
        await asyncio.to_thread(started.get, timeout=SOON)
        job = pool.take(1)
        assert job is not None
        call = Call(1, "task", job.tool, {}, None)
        take = Take(job, "promoted")
        call.resolve(take)
        waiting = asyncio.ensure_future(wait(decision(call, SOON)))
        await asyncio.sleep(0)
        go.put(None)
        answer: Own | Take = await asyncio.wait_for(waiting, SOON)
        assert answer == take
        assert job.ended.cancelled()
        await asyncio.to_thread(ends.get, timeout=SOON)


def test_a_tool_that_would_end_the_process_only_ends_its_job(pool: JobPool, ends: SimpleQueue[Ended]) -> None:
    def leave(arguments: dict[str, object]) -> None:
        raise SystemExit(3)

    pool.start(1, Tool("leave", leave, is_async=False), {}, copy_context(), None)
    assert ends.get(timeout=SOON) == Ended(job=1, status=Status.ERROR, preview="SystemExit: 3")
    pool.start(2, promise(), {}, copy_context(), None)
    assert ends.get(timeout=SOON).job == 2, "the worker is still there"


def test_a_predicate_that_breaks_leaves_no_value_to_use(pool: JobPool, ends: SimpleQueue[Ended]) -> None:
    tool = Tool("t", lambda arguments: 1, is_async=False, failed=lambda value: bool(value["error"]))
    pool.start(1, tool, {}, copy_context(), None)
    assert ends.get(timeout=SOON) == Ended(job=1, status=None)
