"""Which directories of the machine a view covers, and which it leaves read-only.

Every path a command can write to is either covered by an overlay or on a sealed mount, where a write fails with
EROFS, which the trace sees. `/proc`, `/sys` and `/dev` are made anew or sealed inside. Overlays are as few as can be,
one for the whole root, or for each directory of it where the root has mounts that cannot be parted from it, because
programs see where one ends: renames fail there, and git looks no further. A workspace gets none of its own.
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


def layout(used: Iterable[str], *, unprivileged: bool) -> Layout:
    """As the machine's mounts are now. Reads the file system; call it off the loop.

    Args:
        used: directories in which a command is going to change something.
        unprivileged: in a user namespace mounts cannot be covered together with their parent: a directory with mounts
            below it is sealed, and each of its subdirectories is looked at on its own. Neither can directories of
            others be changed: what lies deeper than one of them gets its own overlay.
    """
    below = [path for path in mount_points() if not _within(path, _OWN) and path != "/"]
    if unprivileged:
        tops = [path for path in _directories("/") if path not in _OWN]
        covered = {path for top in tops for path in _without_mounts_below(top, below)}
        owned = {path for each in used if (path := _outermost_own(each, covered)) is not None}
        return Layout(_outer_first(covered | owned), ())
    nested = {path for path in below if Path(path).is_dir()}
    files = [path for path in below if Path(path).is_file()]
    return Layout(_outer_first({"/", *nested}), _outer_first(files))


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


def _outermost_own(path: str, covered: Iterable[str]) -> str | None:
    """The first directory on the way to `path` that is ours, or itself; None: it needs no overlay, or is in none."""
    own = path
    while _is_ours(above := own.rpartition("/")[0]) and above not in covered:
        own = above
    if own in covered or (above in covered and _is_ours(own)) or not covers(covered, own):
        return None
    return own


def _is_ours(path: str) -> bool:
    found = Path(path or "/").stat()
    return (found.st_uid, found.st_gid) == (os.geteuid(), os.getegid())


def _directories(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except PermissionError:
        return []


def _within(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _outer_first(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: path.rstrip("/").split("/")))


def covers(covered: Iterable[str], path: str) -> bool:
    """Whether `path` is in one of these directories."""
    return _within(path, tuple(covered))
