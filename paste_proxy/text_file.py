"""Text files that a person names, read whole: a file, or a pipe that was handed over open, as shells do for
`<(...)`; and only so much of it."""

import os
import stat
from pathlib import Path

from paste_proxy.errors import InputFault

_MOST_BYTES = 256 * 2**20
"""More than any pool that can be used."""
_OPEN_ALREADY = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")


def read_text(path: Path, expected: str, *, name: str = "", most_bytes: int = _MOST_BYTES) -> str:
    """What is in it, with ends of lines as Python reads them.

    Args:
        expected: what it should be, for people.
        name: as it was named; the path if it was not.

    Raises:
        InputFault: it cannot be read, is no file but a pipe with a name, a device or a folder, is larger, or is no
            UTF-8.
    """
    name = name or str(path)
    try:
        handed = str(path).startswith(_OPEN_ALREADY)
        with open(path, encoding="utf-8", opener=None if handed else _at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not (stat.S_ISREG(mode) or (handed and stat.S_ISFIFO(mode))):
                raise InputFault(name, "is no regular file, but a pipe, a device or a folder", expected)
            text = file.read(most_bytes + 1)
    except (OSError, ValueError) as fault:
        raise InputFault(name, f"cannot be read ({fault})", expected) from fault
    if len(text) > most_bytes:
        raise InputFault(name, f"is larger than {most_bytes >> 20} MiB", expected)
    return text


def _at_once(path: str, flags: int) -> int:
    """A pipe that nobody writes to keeps nobody waiting."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
