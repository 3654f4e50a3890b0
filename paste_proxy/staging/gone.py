"""What is over and waits to be taken away: it lies in one folder beside the stages, where nobody looks for anything.

To free what files hold takes a disk long, a rename no time. So a stage that has ended is put here at once, and is taken
away out of everybody's way (`sweeping`). What is left when a process ends is for whoever comes next.
"""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

from paste_proxy.staging.forks import Forks

_NAME = "gone"
_TRIES = 100
_WORD_BYTES = 64


def gone_in(base: Path) -> Path:
    """The folder, which is there while something is in it."""
    return base / _NAME


def put_away(path: Path, base: Path) -> None:
    """Let a folder that lies two below `base` be gone.

    Raises:
        OSError: it is where it was.
    """
    folder = gone_in(base)
    for _ in range(_TRIES):
        folder.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):  # somebody has just swept, and the folder went with what was in it
            path.rename(folder / f"{path.parent.name}-{path.name}")
            return
        path.lstat()
    raise TimeoutError(f"{folder} goes again and again")


class Sweep:
    """Takes away what is gone, by one process at a time. Close it."""

    def __init__(self, base: Path, forks: Forks) -> None:
        self._folder, self._forks = gone_in(base), forks
        self._wanted, self._closing = False, asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Something is gone."""
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._sweep())

    async def close(self, within_s: float) -> None:
        """Wait for it to come to its end, but no longer than this."""
        if self._task is not None:
            await asyncio.wait((self._task,), timeout=within_s)
            self._closing.set()
            await self._task

    async def _sweep(self) -> None:
        while self._wanted and not self._closing.is_set():
            self._wanted = False
            if await asyncio.to_thread(self._folder.exists):
                await self._swept(await asyncio.to_thread(self._folder.absolute))

    async def _swept(self, folder: Path) -> None:
        try:
            control = await self._forks.sweeper(str(folder))
        except OSError:  # whoever comes next does it
            return
        with control:
            await self._over(control)

    async def _over(self, control: socket.socket) -> None:
        told = asyncio.ensure_future(asyncio.get_running_loop().sock_recv(control, _WORD_BYTES))
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait((told, closing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (told, closing):
                each.cancel()
            await asyncio.wait((told, closing))
