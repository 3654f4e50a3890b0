"""What is run ahead does not outlive this process, however that ends.

A command may be several processes, and only the first is ours, so it would not do to have the kernel end what we have
started. A small process beside this one knows the sessions, and ends those that are left when our end of its input
closes: the kernel does that even for one that is killed. Only of a command that was started in the very moment before,
it may not have been told.
"""

import os
import subprocess
import sys
import threading
from contextlib import suppress

_PROGRAM = "paste_proxy.tools.workbench.survivors_process"


class Survivors:
    """The sessions that are not to go on without this process."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._watching: subprocess.Popen[bytes] | None = None
        self._told = -1
        self._sessions: set[int] = set()

    @property
    def watched(self) -> bool:
        """Whether there is a process that does it."""
        return self._watching is not None and self._watching.poll() is None

    def watch(self) -> None:
        """Have them watched from now on. Blocks, the first time until a process is started; where that cannot be, they
        are as others are."""
        with self._starting, suppress(OSError):
            if not self.watched:
                self._start()

    def began(self, session: int) -> None:
        """A process has begun a session."""
        self._sessions.add(session)
        self._tell(session)

    def ended(self, session: int) -> None:
        """It is over."""
        self._sessions.discard(session)
        self._tell(-session)

    def _start(self) -> None:
        near_end, told = os.pipe()
        try:
            self._watching = subprocess.Popen(  # noqa: S603  a module of ours
                (sys.executable, "-P", "-m", _PROGRAM),
                stdin=near_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            os.close(told)
            raise
        finally:
            os.close(near_end)
        os.set_blocking(told, False)
        before, self._told = self._told, told
        if before >= 0:
            os.close(before)
        for session in tuple(self._sessions):
            self._tell(session)

    def _tell(self, number: int) -> None:
        if self._told >= 0:
            with suppress(OSError):  # it has ended, and the next one is told of all
                os.write(self._told, b"%d\n" % number)


SURVIVORS = Survivors()
"""Of this process."""
