"""Which files are locked, by any process that can be seen from here. In a view nobody's locks hold: it has files of its
own."""

import os
from pathlib import Path

_LOCKS = Path("/proc/locks")

File = tuple[int, int]
"""Device and number."""


def locked_files() -> frozenset[File]:
    """Those on which somebody holds a lock of any kind, or waits for one."""
    try:
        lines = _LOCKS.read_text("ascii").splitlines()
    except OSError:
        return frozenset()
    return frozenset(file for line in lines if (file := _file(line.split())) is not None)


def _file(words: list[str]) -> File | None:
    place = next((word for word in words if word.count(":") == 2), None)
    if place is None:
        return None
    major, minor, number = place.split(":")
    return os.makedev(int(major, 16), int(minor, 16)), int(number)
