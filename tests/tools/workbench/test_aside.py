"""What is run ahead here gives way to what agents wait for, and no longer once one waits for it."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.tools.workbench.aside import Aside, in_thread
from paste_proxy.tools.workbench.survivors import SURVIVORS
from tests.staging.runs import found, processes_with
from tests.tools.workbench.bench import Bench

FOREVER = "(x+x+)+y"
linux = pytest.mark.skipif(sys.platform != "linux", reason="schedulers are Linux's")


@asynccontextmanager
async def a_long_one_run_ahead() -> AsyncIterator[threading.Event]:
    """Until then something else that is run ahead takes its turn."""
    end, begun = threading.Event(), threading.Event()

    def long() -> None:
        begun.set()
        end.wait()

    running = asyncio.create_task(Aside(asyncio.Event()).in_thread(long))
    await asyncio.to_thread(begun.wait)
    try:
        yield end
    finally:
        end.set()
        await running


async def test_what_is_run_ahead_has_the_interpreter_one_after_the_other() -> None:
    async with a_long_one_run_ahead() as end:
        second = asyncio.create_task(Aside(asyncio.Event()).in_thread(lambda: end.is_set()))
        assert await in_thread(lambda: "an agent's own") == "an agent's own"
        assert not second.done()
        end.set()
        assert await second


async def test_what_an_agent_waits_for_has_no_turn_to_wait_for() -> None:
    async with a_long_one_run_ahead() as end:
        wanted = asyncio.Event()
        second = asyncio.create_task(Aside(wanted).in_thread(lambda: end.is_set()))
        wanted.set()
        assert not await second
        assert not await Aside(wanted).in_thread(lambda: end.is_set())


async def test_what_is_given_up_before_its_turn_never_runs() -> None:
    ran: list[str] = []
    async with a_long_one_run_ahead():
        second = asyncio.create_task(Aside(asyncio.Event()).in_thread(ran.append, "second"))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
    await Aside(asyncio.Event()).in_thread(ran.append, "third")
    assert ran == ["third"]


async def test_processes_take_turns_unless_an_agent_waits() -> None:
    await in_thread(SURVIVORS.watch)
    wanted, held = asyncio.Event(), asyncio.Event()
    ran: list[str] = []

    async def take(name: str, wanted: asyncio.Event) -> None:
        async with Aside(wanted).turn():
            ran.append(name)
            await held.wait()

    first = [asyncio.create_task(take("first", asyncio.Event())) for _ in range(max(1, (os.cpu_count() or 1) // 2))]
    later = asyncio.create_task(take("later", asyncio.Event()))
    given_up = asyncio.create_task(take("given up", asyncio.Event()))
    asked = asyncio.create_task(take("asked", wanted))
    await until_idle()
    assert set(ran) == {"first"}
    given_up.cancel()
    wanted.set()
    await until_idle()
    assert ran[-1] == "asked"
    held.set()
    await asyncio.gather(*first, later, asked, given_up, return_exceptions=True)
    assert ran[-1] == "later"
    async with Aside(asyncio.Event()).turn():
        pass


async def until_idle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_failure_is_told_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        await Aside(asyncio.Event()).in_thread(lambda: 1 // 0)


@linux
@pytest.mark.parametrize(
    ("tool", "arguments", "mark"),
    [
        ("grep", {"pattern": FOREVER}, "search_process"),
        ("run", {"command": "wc -w hole | sort"}, "hole"),
    ],
)
async def test_a_process_is_quiet_until_an_agent_waits_for_it(
    bench: Bench, tool: str, arguments: dict[str, Any], mark: str
) -> None:
    (bench.root / "a").write_text("x" * 5_000)
    (bench.root / "hole").touch()
    os.truncate(bench.root / "hole", 2**40)  # takes hours to read
    wanted, before = asyncio.Event(), set(processes_with(mark))

    def processes() -> list[int]:
        return [pid for pid in processes_with(mark) if pid not in before]

    running = asyncio.create_task(bench.workbench.run_aside(Invocation(f"workbench/{tool}", arguments), wanted))
    try:
        await found(lambda: processes() and all(map(is_quiet, processes())))
        wanted.set()
        await found(lambda: processes() and not any(map(is_quiet, processes())))
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def is_quiet(pid: int) -> bool:
    """By its own priority, and by its session's where there are such."""
    try:
        session = Path(f"/proc/{pid}/autogroup")
        shared = session.exists() and session.read_text().endswith("nice 19\n")
        return shared or os.sched_getscheduler(pid) in (os.SCHED_IDLE, os.SCHED_BATCH)
    except OSError:
        return False
