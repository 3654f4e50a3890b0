"""Which directories of the machine a view covers, and which it leaves read-only.

Every path a command can write to is either covered by an overlay or on a sealed mount, where a write fails with
EROFS, which the trace sees. `/proc`, `/sys` and `/dev` are made anew or sealed inside.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_OWN = ("/proc", "/sys", "/dev")
"""The machine's own."""
_MOST_CHILDREN = 200
"""A directory of more, with mounts somewhere below, is sealed as a whole where it cannot be covered."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What is mounted over what, outer ones first."""

    covered: tuple[str, ...]
    """Directories that get an overlay."""
    kept: tuple[str, ...]
    """Files that something is mounted on, which an overlay of their directory would hide."""


def layout(workspace: str, *, locked: bool) -> Layout:
    """As the machine's mounts are now. Reads the file system; call it off the loop.

    Args:
        locked: mounts cannot be covered together with their parent, as in a user namespace: a directory with
            mounts below it is sealed, and each of its subdirectories is looked at on its own.
    """
    below = [path for path in mount_points() if not _within(path, _OWN) and path != "/"]
    tops = [path for path in _directories("/") if path not in _OWN]
    if locked:
        covered = {path for top in tops for path in _without_mounts_below(top, below)}
        return Layout(_outer_first(covered | {workspace}), ())
    nested = {path for path in below if Path(path).is_dir()}
    files = [path for path in below if Path(path).is_file()]
    return Layout(_outer_first({*tops, *nested, workspace}), _outer_first(files))


def mounted_below(path: str) -> list[str]:
    """Where something is mounted inside of a directory."""
    return [point for point in mount_points() if point != path and _within(point, (path,))]


def mount_points() -> list[str]:
    """All that are to be seen, each once."""
    text = Path("/proc/self/mountinfo").read_bytes()
    return sorted({_unescaped(line.split(b" ")[4]) for line in text.splitlines()})


def _unescaped(field: bytes) -> str:
    for code in (b" ", b"\t", b"\n", b"\\"):  # the last one last: it makes no new codes
        field = field.replace(b"\\%03o" % code[0], code)
    return os.fsdecode(field)


def _without_mounts_below(path: str, mounted: list[str]) -> Iterator[str]:
    if not any(point != path and _within(point, (path,)) for point in mounted):
        yield path
        return
    children = _directories(path)
    for child in children if len(children) <= _MOST_CHILDREN else ():
        yield from _without_mounts_below(child, mounted)


def _directories(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except PermissionError:
        return []


def _within(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _outer_first(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: path.split("/")))
