"""What the first process of a view still knows of the machine outside.

Standard library only: runs inside.
"""

import os
from collections.abc import Iterator, Sequence

_LISTENS = b"0A"
_TABLES = {"tcp": (_LISTENS,), "tcp6": (_LISTENS,), "udp": None, "udp6": None}
"""Of the kernel, and in which states a socket takes its port."""


class Ports:
    """Those that servers have of the network in which it is made. They are looked at when the first is asked for,
    wherever that is: it takes a while, and few commands serve anybody."""

    def __init__(self) -> None:
        self._tables = [(opened, states) for name, states in _TABLES.items() if (opened := _opened(name)) >= 0]
        self._taken: frozenset[int] | None = None

    def taken(self, port: int) -> bool:
        """Whether somebody serves there."""
        if self._taken is None:
            self._taken = frozenset(self._ports())
        return port in self._taken

    def _ports(self) -> Iterator[int]:
        for opened, states in self._tables:
            with open(opened, "rb") as table:  # noqa: PTH123  pathlib takes time to load
                for line in table.read().splitlines()[1:]:
                    _, local, _, state, *_ = line.split()
                    if states is None or state in states:
                        yield int(local.rpartition(b":")[2], 16)


class Outside:
    """All of it.

    Args:
        below: the directories that overlays cover, and each one open; outer ones first.
    """

    def __init__(self, ports: Ports, below: Sequence[tuple[str, int]]) -> None:
        self._ports = ports
        self._below = [(path.rstrip("/") + "/", opened) for path, opened in reversed(below)]

    def taken(self, port: int) -> bool:
        """Whether somebody serves there."""
        return self._ports.taken(port)

    def has(self, path: str) -> bool:
        """Whether there is something at an absolute path, or a link without anything."""
        for covered, opened in self._below:
            if path.startswith(covered):
                try:
                    os.lstat(path[len(covered) :], dir_fd=opened)
                except OSError:
                    return False
                return True
        return True  # nothing is covered there

    def shows(self, folder: str) -> bool:
        """Whether in a directory of the view something is to be seen of the same one outside. An overlay counts no
        links of such a directory, and some file systems of none."""
        try:
            return os.stat(folder).st_nlink == 1 and self.has(folder)  # noqa: PTH116  pathlib takes time to load
        except OSError:
            return False


def _opened(table: str) -> int:
    """-1 if the machine has none."""
    try:
        return os.open(f"/proc/net/{table}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
