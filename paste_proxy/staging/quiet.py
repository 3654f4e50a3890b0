"""How a speculative command stays out of the way of what the agent waits for, and comes back once it is waited for.

Only what can be undone: a user may not give a process its old priority back. Linux shares the CPU out among sessions
first (autogroups), where a priority within one does not count; that of a session as a whole can be set both ways by
anyone, though not twice within a tenth of a second. Where there are no autogroups, SCHED_IDLE is what works.

Standard library only: runs inside, and outside for a session that needs no view.
"""

import os
import resource
import time

from paste_proxy.staging import kernel

_LOWEST, _LOW, _USUAL = 19, 10, 0
_AS_OTHERS, _IDLE = 0, 3
"""Classes of access to the disk."""
_NICE_NEEDED = 20
"""The limit RLIMIT_NICE with which a user may leave SCHED_IDLE."""
_TRIES, _BETWEEN_S = 10, 0.02
"""Longer than the time within which a session cannot be set twice."""


def hush(*, unprivileged: bool) -> None:
    """This process, which has just begun a session, and what it starts."""
    _hush(0, unprivileged=unprivileged)
    _set_session(os.getpid(), _LOWEST)


def hush_session(pid: int) -> None:
    """From outside, a process that has just begun a session, and what it starts.

    Raises:
        OSError: it has ended.
    """
    _hush(pid, unprivileged=os.geteuid() != 0)
    _set_session(pid, _LOWEST)


def end_hush(session: int) -> None:
    """From outside, all processes of a session, and those they start, are like any others from now on. Blocks, a
    little longer if the session has only just been hushed."""
    while any([_to_usual(thread) for pid in _of_session(session) for thread in _numbers(f"/proc/{pid}/task")]):  # noqa: C419  all
        pass  # until none was started meanwhile by one that had not been changed
    for _ in range(_TRIES):
        if _set_session(session, _USUAL):
            break
        time.sleep(_BETWEEN_S)


def _hush(pid: int, *, unprivileged: bool) -> None:
    may_return = not unprivileged or _nice_limit() >= _NICE_NEEDED
    os.sched_setscheduler(pid, os.SCHED_IDLE if may_return else os.SCHED_BATCH, os.sched_param(0))
    kernel.set_io_class(pid, _IDLE)


def give_way() -> None:
    """This process, which has just begun a session, for good, and to all others. Not as much as it could: what it does
    to a disk, others may have to wait for."""
    os.nice(_LOW)
    _set_session(os.getpid(), _LOW)


class Quiet:
    """Of all processes of the view but the first, which has little to do and ends the others in time."""

    def __init__(self, hushed: bool) -> None:
        self._wanted = _LOWEST if hushed else _USUAL

    def look(self) -> None:
        """To be called again and again: sessions may have begun, or could not be changed yet."""
        for pid in _others():
            _set_session(pid, self._wanted)

    def end(self) -> None:
        """All of them, and those they start, are like any others from now on."""
        self._wanted = _USUAL
        while any([_to_usual(thread) for pid in _others() for thread in _numbers(f"/proc/{pid}/task")]):  # noqa: C419  all
            pass  # until none was started meanwhile by one that had not been changed
        self.look()


def _set_session(pid: int, wanted: int) -> bool:
    """Whether there is nothing left to do."""
    try:
        opened = os.open(f"/proc/{pid}/autogroup", os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # it has ended, or there are none
        return True
    try:
        if os.read(opened, 100).split()[-1:] != [b"%d" % wanted]:
            os.write(opened, b"%d" % wanted)
    except OSError:  # too soon after the last time
        return False
    finally:
        os.close(opened)
    return True


def _to_usual(thread: int) -> bool:
    """Whether it was another way."""
    try:
        if os.sched_getscheduler(thread) not in (os.SCHED_IDLE, os.SCHED_BATCH):
            return False
        kernel.set_io_class(thread, _AS_OTHERS)
        os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
    except OSError:  # it has ended
        return False
    return True


def _others() -> list[int]:
    return [pid for pid in _numbers("/proc") if pid != 1]


def _of_session(session: int) -> list[int]:
    return [pid for pid in _numbers("/proc") if _session_of(pid) == session]


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:  # it has ended
        return None


def _numbers(folder: str) -> list[int]:
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]  # noqa: PTH208  pathlib takes time to load
    except OSError:
        return []


def _nice_limit() -> int:
    limit = resource.getrlimit(resource.RLIMIT_NICE)[0]
    return limit if limit != resource.RLIM_INFINITY else _NICE_NEEDED
