"""What is run ahead here stays out of the way of everything else on the machine, until an agent waits for it.

A process gets what nobody else wants, and its share once it is waited for; there are no more of them at once than half
of the cores, since to start one costs what cannot be put off. What runs in this process shares the interpreter with
what agents wait for: one at a time. What is waited for has no turn to wait for.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from paste_proxy.tools.workbench.survivors import SURVIVORS

_P = ParamSpec("_P")
_T = TypeVar("_T")

_THREADS = ThreadPoolExecutor(16, thread_name_prefix="workbench")
"""Not those of the event loop, which others have use of."""
_ASIDE = ThreadPoolExecutor(1, thread_name_prefix="workbench-ahead")
_LINUX = sys.platform == "linux"
_PROCESSES = max(1, (os.cpu_count() or 1) // 2)
_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
"""For processes, of each event loop."""


class Aside:
    """One run ahead.

    Args:
        wanted: set once an agent waits for it.
    """

    def __init__(self, wanted: asyncio.Event) -> None:
        self._wanted = wanted
        self._minding: asyncio.Task[None] | None = None
        self._session: int | None = None

    async def in_thread(self, act: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """What a function gives, in its turn or once it is waited for."""
        turn = _ASIDE.submit(act, *args, **kwargs)
        done, wanted = asyncio.wrap_future(turn), asyncio.ensure_future(self._wanted.wait())
        try:
            await asyncio.wait((done, wanted), return_when=asyncio.FIRST_COMPLETED)
            if not done.done() and turn.cancel():
                return await in_thread(act, *args, **kwargs)
            return await done
        finally:
            wanted.cancel()
            done.cancel()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Meanwhile it may have a process, which ends when this one does."""
        places = _places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_PROCESSES))
        place, wanted = asyncio.ensure_future(places.acquire()), asyncio.ensure_future(self._wanted.wait())
        try:
            await asyncio.wait((place, wanted), return_when=asyncio.FIRST_COMPLETED)
            if _LINUX and not SURVIVORS.watched:
                await in_thread(SURVIVORS.watch)
            yield
        finally:
            wanted.cancel()
            if not place.cancel() and not place.cancelled():
                places.release()

    def started(self, pid: int) -> None:
        """Its process, which heads a session, has just begun."""
        if not _LINUX:
            return
        self._session = pid
        SURVIVORS.began(pid)
        if not self._wanted.is_set():
            self._minding = asyncio.create_task(self._mind(pid))

    def over(self) -> None:
        """Its process has ended, if there was one."""
        if self._minding is not None:
            self._minding.cancel()
        if self._session is not None:
            SURVIVORS.ended(self._session)

    async def _mind(self, pid: int) -> None:
        from paste_proxy.staging import quiet

        with suppress(OSError):  # it has ended
            await in_thread(quiet.hush_session, pid)
        await self._wanted.wait()
        await in_thread(quiet.end_hush, pid)


async def in_thread(act: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """What a function gives that blocks."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, lambda: act(*args, **kwargs))
