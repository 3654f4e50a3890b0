"""A command that nobody waits for yet gives way; one that is waited for does not."""

import asyncio
import os
from pathlib import Path

from paste_proxy.staging.view import Running
from tests.staging.runs import PROGRAM, Views, found, processes_with
from tests.staging.workplace import staged

_MANY = (
    "import os, threading, time; os.fork() or os.setsid(); "
    "threading.Thread(target=time.sleep, args=({mark},)).start(); time.sleep({mark})"
)
"""Two processes in two sessions, each of two threads."""


async def test_all_of_it_is_quiet_until_it_is_promoted(views: Views, place: Path) -> None:
    running = Running()
    task = asyncio.create_task(views.run(staged(place, PROGRAM, "-c", _MANY.format(mark="91.25")), running=running))
    try:
        await found(lambda: len(_threads("91.25")) >= 4 and all(map(_is_quiet, _threads("91.25"))))
        running.promote()
        await found(lambda: all(map(_is_usual, _threads("91.25"))))
    finally:
        task.cancel()
        await asyncio.wait((task,))


async def test_without_a_hand_on_it_it_is_like_any_other(views: Views, place: Path) -> None:
    task = asyncio.create_task(views.run(staged(place, PROGRAM, "-c", _MANY.format(mark="92.25"))))
    try:
        await found(lambda: len(_threads("92.25")) >= 4)
        assert all(map(_is_usual, await asyncio.to_thread(_threads, "92.25")))
    finally:
        task.cancel()
        await asyncio.wait((task,))


def _threads(mark: str) -> list[int]:
    threads = []
    for pid in processes_with(mark):
        try:
            if (Path(f"/proc/{pid}") / "comm").read_text().startswith("python"):
                threads += [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
        except OSError:
            continue
    return threads


def _is_quiet(thread: int) -> bool:
    return _is(thread, (os.SCHED_IDLE, os.SCHED_BATCH), "nice 19\n")


def _is_usual(thread: int) -> bool:
    return _is(thread, (os.SCHED_OTHER,), "nice 0\n")


def _is(thread: int, policies: tuple[int, ...], of_session: str) -> bool:
    """By its own priority, and by its session's where there are such."""
    try:
        session = Path(f"/proc/{thread}/autogroup")
        shared = not session.exists() or session.read_text().endswith(of_session)
        return shared and os.sched_getscheduler(thread) in policies
    except OSError:
        return False
