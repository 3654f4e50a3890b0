"""Our hand on the program that views are copies of (`forkserver`)."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import paste_proxy
from paste_proxy.staging.forkserver import SWEEP, VIEW  # compiled by us: in a view nothing may be written
from paste_proxy.staging.inherited import inherited

_PROGRAM = """
import sys
package = sys.modules["paste_proxy"] = type(sys)("paste_proxy")  # not loaded as a whole: that takes time and room
package.__path__ = [{!r}]
from paste_proxy.staging.forkserver import main
main()
"""


class Forks:
    """Starts it when the first view is wanted, and again where it is gone or would hand down something else than we now
    do. Close it."""

    def __init__(self) -> None:
        self._asking: socket.socket | None = None
        self._inherited: tuple[object, ...] = ()
        self._servers: dict[asyncio.Task[int], asyncio.subprocess.Process] = {}
        """Until they have ended: one that is not asked any more ends after its last view."""
        self._one = asyncio.Lock()

    async def view(self, output: int, report: int) -> socket.socket:
        """Have a view made that waits for its orders. They go through what is returned; closed, the view ends.

        Args:
            output, report: ends of pipes for it to write to, which stay the caller's, too.

        Raises:
            OSError: it cannot be made.
        """
        return await self._asked(VIEW, output, report)

    async def sweeper(self, folder: str) -> socket.socket:
        """Have a process made that takes away a folder. What is returned tells of its end; closed, it ends.

        Raises:
            OSError: it cannot be made.
        """
        return await self._asked(SWEEP + os.fsencode(folder))

    def kill(self) -> None:
        """End every view at once, whatever it does."""
        for process in self._servers.values():
            process.kill()

    async def close(self) -> None:
        """Wait until all is over. Safe to call twice."""
        async with self._one:
            self._part()
            if self._servers:
                await asyncio.wait(self._servers)

    async def _asked(self, message: bytes, *passed: int) -> socket.socket:
        async with self._one:
            asking = await self._ready()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                ours.setblocking(False)
                socket.send_fds(asking, [message], [theirs.fileno(), *passed])
            except OSError:
                ours.close()
                raise
        return ours

    async def _ready(self) -> socket.socket:
        now = await asyncio.to_thread(inherited)
        if self._asking is None or now != self._inherited:
            self._part()
            self._asking, self._inherited = await self._started(), now
        return self._asking

    async def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            try:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", "-B", "-c", _PROGRAM.format(str(Path(paste_proxy.__file__).parent))),
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,
                )
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        ended = asyncio.create_task(process.wait())
        self._servers[ended] = process
        ended.add_done_callback(lambda _: self._ended(ended, ours))
        return ours

    def _ended(self, server: asyncio.Task[int], asking: socket.socket) -> None:
        del self._servers[server]
        if self._asking is asking:
            self._part()

    def _part(self) -> None:
        asking, self._asking = self._asking, None
        if asking is not None:
            asking.close()
