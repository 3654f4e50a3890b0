"""CPU seconds of a process and its children, and pinning; Linux only, elsewhere they say nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def cpu_seconds(pid: int) -> float | None:
    """User and system time used so far by a process tree; None where the system does not tell."""
    times: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        times[int(path.parent.name)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICKS
    if pid not in times:
        return None
    return sum(seconds for own, (_, seconds) in times.items() if _descends(own, pid, times))


def _descends(pid: int, ancestor: int, times: dict[int, tuple[int, float]]) -> bool:
    while pid in times and pid != ancestor:
        pid = times[pid][0]
    return pid == ancestor


def cores() -> list[int]:
    """The cores this process may use; empty where that is not known."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pin(pid: int, core: int) -> None:
    """Keep a process on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(pid, {core})


@contextmanager
def apart(measured: int, *others: int) -> Iterator[bool]:
    """Meanwhile one process has the last core to itself and the others share the first; whether there are two."""
    own = cores()
    several = len(own) > 1
    if several:
        pin(measured, own[-1])
        for pid in others:
            pin(pid, own[0])
    try:
        yield several
    finally:
        if several:
            os.sched_setaffinity(0, set(own))


def machine_seconds() -> float | None:
    """CPU time used so far by everything on the machine, stolen time included; None where it does not tell."""
    try:
        fields = Path("/proc/stat").read_text().partition("\n")[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _idle, _wait, irq, softirq, steal = (int(field) for field in fields[:8])
    return (user + nice + system + irq + softirq + steal) / _TICKS
