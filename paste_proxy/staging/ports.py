"""Ports that servers of this machine have: a server in a view could have them as well."""

from collections.abc import Iterator
from pathlib import Path

_LISTENS = "0A"
_TABLES = {"tcp": (_LISTENS,), "tcp6": (_LISTENS,), "udp": None, "udp6": None}
"""Of the kernel, and in which states a socket takes its port."""


def taken() -> list[int]:
    """As they are now. Blocks for a moment."""
    return sorted(set(_taken()))


def _taken() -> Iterator[int]:
    for name, states in _TABLES.items():
        table = Path(f"/proc/net/{name}")
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            _, local, _, state, *_ = line.split()
            if states is None or state in states:
                yield int(local.rpartition(":")[2], 16)
