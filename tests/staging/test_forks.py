"""The program that views are copies of: started when it is wanted, and gone when it is not."""

import asyncio
import os
import resource
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from paste_proxy.staging.forks import Forks
from tests.staging.runs import Views, found, processes_with
from tests.staging.workplace import staged


def servers() -> list[int]:
    """Of ours."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in map(int, children) if b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.fixture
async def forks() -> AsyncIterator[Forks]:
    forks = Forks()
    yield forks
    await forks.close()


async def test_it_is_started_with_the_first_view_and_ends_when_it_is_closed(forks: Forks) -> None:
    assert await asyncio.to_thread(servers) == []
    null = os.open("/dev/null", os.O_WRONLY)
    try:
        for _ in range(3):
            (await forks.view(null, null)).close()
        assert len(await asyncio.to_thread(servers)) == 1
    finally:
        os.close(null)
    await forks.close()
    assert await asyncio.to_thread(servers) == []
    await forks.close()


async def test_no_view_has_anything_of_one_before(views: Views, place: Path) -> None:
    leaving = "echo left >/dev/shm/left; echo left >/tmp/left; cd sub; umask 077; export LEFT=1; ulimit -n 20; kill $$"
    looking = "test -e /dev/shm/left; echo $?; test -e /tmp/left; echo $?; pwd; umask; echo $LEFT; ulimit -n"
    first = await views.run(staged(place, looking))
    assert (await views.run(staged(place, leaving))).poisons
    again = await views.run(staged(place, looking))
    assert (again.output, again.poisons) == (first.output, ())


async def test_one_that_is_gone_is_started_again(views: Views, place: Path) -> None:
    (server,) = await asyncio.to_thread(servers)
    running = asyncio.create_task(views.run(staged(place, "sleep 85.25")))
    await found(lambda: processes_with("85.25"))
    os.kill(server, signal.SIGKILL)
    with pytest.raises(Exception, match="could not be made"):
        await running
    await found(lambda: not processes_with("85.25"))
    await found(lambda: server not in servers())
    assert (await views.run(staged(place, "echo again"))).output == b"again\n"


async def test_what_we_hand_down_is_what_we_have_now_and_what_runs_runs_on(views: Views, place: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    running = asyncio.create_task(views.run(staged(place, "sleep 0.5; ulimit -n")))
    await found(lambda: processes_with("sleep\x000.5"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[0] - 1, before[1]))
    try:
        assert (await views.run(staged(place, "ulimit -n"))).output == b"%d\n" % (before[0] - 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert (await running).output == b"%d\n" % before[0]
    assert (await views.run(staged(place, "ulimit -n"))).output == b"%d\n" % before[0]
    await found(lambda: len(servers()) == 1)


async def test_all_can_be_ended_at_once(views: Views, place: Path) -> None:
    running = [asyncio.create_task(views.run(staged(place, f"sleep 86.25{number}"))) for number in range(3)]
    await found(lambda: len(processes_with("sleep\x0086.25")) == 3)
    views.forks.kill()
    ended, _ = await asyncio.wait(running)
    assert all(task.exception() is not None for task in ended)
    await found(lambda: not processes_with("86.25"))
