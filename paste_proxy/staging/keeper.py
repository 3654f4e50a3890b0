"""The first process of a view while the command runs: it starts it, watches what it does, and tells how it ended.

Standard library only: runs inside.
"""

import os
import select
import time

from paste_proxy.staging import start, usage
from paste_proxy.staging.orders import Orders
from paste_proxy.staging.outside import Outside
from paste_proxy.staging.quiet import Quiet
from paste_proxy.staging.trace import Trace

_PROMOTE = b"p"
_CHUNK_BYTES = 2**18
_LOOK_S = 0.1
"""Between two looks at what is used."""
_GRACE_S = 0.25
"""For processes that end by themselves once the command has, as the helper of Python's `multiprocessing` does."""
_SIGKILL = 9


def keep(orders: Orders, outside: Outside) -> dict[str, object]:
    """Run the command until it ends or there is a reason why it cannot be committed; what is to be said of it.

    Raises:
        OSError: it cannot be started.
    """
    return _Watch(orders, outside).report()


class _Watch:
    def __init__(self, orders: Orders, outside: Outside) -> None:
        self._counters, self._quiet = usage.Counters(), Quiet(orders.hushed)
        self._trace, self._limits = Trace(orders, outside), usage.Limits(orders)
        self._began = time.monotonic()
        self._control, self._command, self._lines, self._far_end = start.command(orders)
        self._ended = os.pidfd_open(self._command)
        self._poller = select.poll()
        for opened in (self._control, self._lines, self._ended):
            self._poller.register(opened, select.POLLIN)
        self._ran_s: float | None = None
        self._followed = False
        """Whether the tracer has nothing more to tell: nobody is left whom it traces."""

    def report(self) -> dict[str, object]:
        poisons = self._until_the_end()
        self._kill()
        ran_s = self._ran_s if self._ran_s is not None else time.monotonic() - self._began
        exit_code = self._reap()
        poisons = poisons or self._trace.end(self._command) or self._counters.moved()
        used = os.times()
        return {
            "exit_code": exit_code,
            "ran_s": ran_s,
            "cpu_s": used.children_user + used.children_system,
            "poisons": poisons,
            "looked_at": sorted(self._trace.looked_at),
            "absent": sorted(self._trace.absent),
        }

    def _until_the_end(self) -> list[str]:
        """Why it cannot be committed, as far as it is known then."""
        next_look = self._began
        while self._ran_s is None or not self._followed:
            for opened, _ in self._poller.poll(_LOOK_S * 1000):
                self._attend(opened)
            now = time.monotonic()
            poisons = self._trace.poisons
            if now >= next_look:
                next_look = now + _LOOK_S
                self._quiet.look()
                poisons = poisons or self._limits.passed()
            if self._ran_s is not None and not self._followed and now > self._began + self._ran_s + _GRACE_S:
                poisons = poisons or usage.left_over()
            if poisons:
                return poisons
        return []

    def _attend(self, opened: int) -> None:
        if opened == self._control:
            told = os.read(opened, 1)
            if not told:
                self._kill()  # nobody wants it any more
                os._exit(1)
            if told == _PROMOTE:
                self._quiet.end()
        elif opened == self._lines:
            chunk = os.read(opened, _CHUNK_BYTES)
            if self._far_end >= 0:  # the tracer has its own now, and what it closes last is the end
                os.close(self._far_end)
                self._far_end = -1
            if not chunk:
                self._followed = True
                self._poller.unregister(opened)
            self._trace.feed(chunk)
        else:
            self._ran_s = time.monotonic() - self._began
            self._poller.unregister(opened)

    def _kill(self) -> None:
        try:
            os.kill(-1, _SIGKILL)
        except ProcessLookupError:
            return  # nobody is left
        self._quiet.end()  # to end takes some time of the CPU, too

    def _reap(self) -> int:
        """Wait for all that is left; the command's exit code."""
        exit_code = 0
        while True:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                return exit_code
            if pid == self._command:
                exit_code = os.waitstatus_to_exitcode(status)
