"""The first process of a view while the command runs: it starts it, watches what it does, and tells how it ended.

Standard library only: runs inside.
"""

import contextlib
import os
import select
import time
from typing import Any

from paste_proxy.staging import quiet, start, usage

_PROMOTE = b"p"
_CHUNK_BYTES = 2**18
_LOOK_S = 0.1
"""Between two looks at what is used."""
_GRACE_S = 0.25
"""For processes that end by themselves once the command has, as the helper of Python's `multiprocessing` does."""
_SIGKILL = 9


def keep(orders: dict[str, Any]) -> dict[str, Any]:
    """Run the command; what is to be said of it.

    Raises:
        OSError: it cannot be started.
    """
    before = usage.Counters()
    began = time.monotonic()
    control, command, lines, far_end = start.command(orders)
    from paste_proxy.staging.trace import Trace  # takes time to load, while the command runs

    trace = Trace(orders)
    limits = usage.Limits(orders)
    poller = select.poll()
    ended = os.pidfd_open(command)
    for opened in (control, lines, ended):
        poller.register(opened, select.POLLIN)
    ran_s, following, poisons = None, True, list[str]()
    while not poisons and (ran_s is None or following):
        for opened, _ in poller.poll(_LOOK_S * 1000):
            if opened == control:
                _obey(control)
            elif opened == lines:
                following = bool(chunk := os.read(lines, _CHUNK_BYTES))
                trace.feed(chunk)
                far_end = _closed(far_end)  # the tracer has its own now, so that the last of it is an end to us
                if not following:
                    poller.unregister(lines)
            else:
                ran_s = time.monotonic() - began
                poller.unregister(ended)
        poisons += trace.poisons or limits.passed()
        if ran_s is not None and time.monotonic() - began > ran_s + _GRACE_S and following:
            poisons += usage.left_over()
            break
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, _SIGKILL)
    exit_code = _reap(command)
    if not poisons:
        poisons += trace.end(command) + before.moved()
    return {
        "exit_code": exit_code,
        "ran_s": ran_s if ran_s is not None else time.monotonic() - began,
        "poisons": poisons,
        "looked_at": sorted(trace.looked_at),
    }


def _obey(control: int) -> None:
    told = os.read(control, 1)
    if not told:
        os._exit(1)  # nobody wants it any more
    if told == _PROMOTE:
        quiet.loud()


def _closed(far_end: int) -> int:
    if far_end >= 0:
        os.close(far_end)
    return -1


def _reap(command: int) -> int:
    """Wait for all that is left; the command's exit code."""
    exit_code = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, 0)
            if pid == command:
                exit_code = os.waitstatus_to_exitcode(status)
    return exit_code
