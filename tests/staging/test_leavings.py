"""However a view ends, nothing of it is left: no process, no mount, no open file."""

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from paste_proxy.staging.view import Running
from tests.staging.runs import PROGRAM, Views, found, processes_with
from tests.staging.trees import told
from tests.staging.workplace import staged

_FORKS = "import os, time; [os.fork() for _ in range(3)]; os.fork() or os.setsid(); time.sleep({mark})"


def _state() -> tuple[int, int, str]:
    """Open files, mounts and children of this process."""
    return (
        len(list(Path("/proc/self/fd").iterdir())),
        len(Path("/proc/self/mountinfo").read_bytes().splitlines()),
        Path(f"/proc/self/task/{os.getpid()}/children").read_text(),
    )


@pytest.mark.parametrize("seed", range(10))
async def test_cancelling_at_any_moment_leaves_nothing(views: Views, place: Path, seed: int) -> None:
    mark = f"81.25{seed}"
    before, tree = await asyncio.to_thread(_state), await asyncio.to_thread(told, place)
    running = Running()
    task = asyncio.create_task(
        views.run(staged(place, f"echo x >>file; {PROGRAM} -c '{_FORKS.format(mark=mark)}'"), running=running)
    )
    await asyncio.sleep(random.Random(seed).uniform(0.0, 0.6))  # any moment, and what is asked for holds at each
    if seed % 2:
        running.promote()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not await asyncio.to_thread(processes_with, mark)
    assert (await asyncio.to_thread(_state), await asyncio.to_thread(told, place)) == (before, tree)


async def test_cancelling_twice_does_not_hurry_it(views: Views, place: Path) -> None:
    task = asyncio.create_task(views.run(staged(place, "sleep 82.25")))
    await found(lambda: processes_with("82.25"))
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not await asyncio.to_thread(processes_with, "82.25")


_PARENT = """
import asyncio, os, sys
from pathlib import Path
from tests.staging.runs import Views
from tests.staging.workplace import staged
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.types import Tier

async def main():
    await Views(Path(sys.argv[1]), Tier(sys.argv[2]), Forks()).run(staged(Path(sys.argv[3]), sys.argv[4]))

asyncio.run(main())
"""


@pytest.mark.parametrize("seed", range(4))
async def test_killing_us_ends_every_process_of_it(views: Views, place: Path, tmp_path: Path, seed: int) -> None:
    mark = f"83.25{seed}"
    before = await asyncio.to_thread(_state)
    base = tmp_path / "other"
    await asyncio.to_thread(base.mkdir)
    command = f"{PROGRAM} -c '{_FORKS.format(mark=mark)}'"
    us = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _PARENT, str(base), views.tier, str(place), command), cwd=Path(__file__).parents[2]
    )
    if seed:  # in the middle of it
        await found(lambda: any("strace" in name for name in _names_with(mark)))
    else:
        await found(lambda: list(base.glob("*/upper0")))
    us.send_signal(signal.SIGKILL)
    await us.wait()
    await found(lambda: not processes_with(mark))
    assert await asyncio.to_thread(_state) == before


async def test_what_dies_inside_of_it_does_not_live_on_outside(views: Views, place: Path) -> None:
    ran = await views.run(staged(place, "kill -9 -1; echo alive"))
    assert ran.poisons
    ran = await views.run(staged(place, "pkill -9 strace; sleep 84.25; echo alive"))
    assert ran.poisons
    assert not await asyncio.to_thread(processes_with, "84.25")


def _names_with(mark: str) -> list[str]:
    names = []
    for pid in processes_with(mark):
        try:
            names.append(Path(f"/proc/{pid}/comm").read_text())
        except OSError:
            continue
    return names
