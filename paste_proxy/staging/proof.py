"""The proof that nothing in a tree has changed since an instant.

Whatever is done to a file or directory, its ctime becomes the present, and no program can set it otherwise: not by
writing the same bytes, not by setting its other times back. One walk at the end is enough; there is nothing to be
noted at the start.
"""

import os
import stat
from collections.abc import Set

from paste_proxy.staging.filesystems import need_honest_times
from paste_proxy.staging.instant import Instant
from paste_proxy.staging.locks import File
from paste_proxy.staging.types import Refused


def prove_clock(since: Instant) -> None:
    """Let through what times can be compared for.

    Raises:
        Refused: the clock was set.
    """
    if since.clock_was_set():
        raise Refused("the machine's clock was set")


def prove_file(path: str, since: Instant, *, locked: Set[File] = frozenset()) -> None:
    """Let a file, a link or a directory (without what is in it, but with the names) through that has not changed.

    Raises:
        Refused: it has, or is there no longer.
    """
    try:
        found = os.lstat(path)
    except OSError as fault:
        raise Refused(f"{path} has changed") from fault
    if since.before(found.st_ctime_ns):
        raise Refused(f"{path} has changed")
    if (found.st_dev, found.st_ino) in locked:
        raise Refused(f"{path} is locked by somebody")


def prove_tree(
    root: str,
    since: Instant,
    *,
    owner: tuple[int, int] | None = None,
    memory_too: bool = False,
    locked: Set[File] = frozenset(),
) -> None:
    """Let a tree through in which nothing, names included, has changed.

    Args:
        owner: uid and gid that all in it has to have; in a user namespace a command sees others as nobody's.
        memory_too: as of `need_honest_times`.
        locked: files that somebody has locked, none of which may be in it.

    Raises:
        Refused: naming the first thing found.
    """
    prove_file(root, since)
    earliest, before, devices = since.second_ns, since.before, set[int]()
    folders = [root]
    try:
        while folders:
            folder = folders.pop()
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                for name in os.listdir(opened):  # noqa: PTH208  the directory is open: names are not looked up from the top each time
                    found = os.stat(name, dir_fd=opened, follow_symlinks=False)
                    if found.st_ctime_ns >= earliest and before(found.st_ctime_ns):
                        raise Refused(f"{folder}/{name} has changed")
                    if locked and (found.st_dev, found.st_ino) in locked:
                        raise Refused(f"{folder}/{name} is locked by somebody")
                    if owner is not None and (found.st_uid, found.st_gid) != owner:
                        raise Refused(f"{folder}/{name} belongs to somebody else")
                    if found.st_dev not in devices:
                        need_honest_times(
                            folder if stat.S_ISLNK(found.st_mode) else f"{folder}/{name}", memory_too=memory_too
                        )
                        devices.add(found.st_dev)
                    if found.st_mode & 0o170000 == stat.S_IFDIR:
                        folders.append(f"{folder}/{name}")
            finally:
                os.close(opened)
    except OSError as fault:
        raise Refused(f"{root} cannot be gone through: {fault}") from fault
