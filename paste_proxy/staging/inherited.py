"""What a process hands down to those it starts, beside what is said to them: a command in a view, whose processes were
started a while ago, has to find the same as one that is started now."""

import os
import resource
from pathlib import Path

_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_OF_STATUS = ("Uid", "Gid", "Groups", "Sig", "Cap", "NoNewPrivs", "Seccomp:", "Cpus_allowed:", "Mems_allowed:")
_NOT_HANDED_DOWN = ("SigQ", "SigPnd", "SigCgt")
_FILES = ("cgroup", "oom_score_adj", "coredump_filter", "personality", "timerslack_ns")


def inherited() -> tuple[object, ...]:
    """Of this process, as it is now; equal ones are the same. Blocks for a moment."""
    status = Path("/proc/self/status").read_text().splitlines()
    return (
        tuple(resource.getrlimit(limit) for limit in _LIMITS),
        tuple(line for line in status if line.startswith(_OF_STATUS) and not line.startswith(_NOT_HANDED_DOWN)),
        tuple(_text(name) for name in _FILES),
        os.getpriority(os.PRIO_PROCESS, os.getpid()),
        os.sched_getscheduler(os.getpid()),
    )


def _text(name: str) -> str:
    try:
        return (Path("/proc/self") / name).read_text()
    except OSError:  # this machine has no such thing, or it is not for us to see
        return ""
