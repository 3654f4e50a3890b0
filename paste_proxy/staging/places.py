"""Paths as the kernel follows them: every link on the way, and where it ends; and what runs a script. Standard library
only: runs inside.
"""

import os
from collections.abc import Iterator

_LINE_BYTES = 256
_MOST_LINKS = 40
"""The kernel's own bound."""


def interpreter_of(program: str) -> bytes:
    """Which program the kernel opens for a script; none for others."""
    try:
        opened = os.open(program, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # by now it may be anything
    except OSError:
        return b""
    try:
        line = os.read(opened, _LINE_BYTES).partition(b"\n")[0]
    except OSError:
        return b""
    finally:
        os.close(opened)
    return (line[2:].split() or [b""])[0] if line.startswith(b"#!") else b""


class Places:
    """Follows paths, and remembers the links; those of the view, which the command may make itself."""

    def __init__(self) -> None:
        self._links: dict[str, str | None] = {}

    def on_the_way(self, path: str) -> Iterator[str]:
        """The links that an absolute path leads through, and at last the place itself."""
        parts = path.split("/")[::-1]
        place, links = "", 0
        while parts:
            part = parts.pop()
            if part in ("", "."):
                continue
            if part == "..":
                place = place.rpartition("/")[0]
                continue
            step = f"{place}/{part}"
            target = None if step == "/proc" or (place + "/").startswith("/proc/") else self._target(step)
            if target is None:
                place = step
                continue
            yield step
            links += 1
            if links > _MOST_LINKS:
                return
            place = "" if target.startswith("/") else place
            parts += target.split("/")[::-1]
        yield place or "/"

    def _target(self, path: str) -> str | None:
        if path not in self._links:
            try:
                self._links[path] = os.readlink(path)  # noqa: PTH115  pathlib takes time to load
            except (OSError, ValueError):
                self._links[path] = None
        return self._links[path]
