"""Which file systems stamp their changes with this machine's own clock, at once and finely."""

import ctypes
import os
from pathlib import Path

from paste_proxy.staging.types import Refused

_TMPFS = 0x01021994
_OURS = {
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0xF2F52010: "f2fs",
    0x2FC12FC1: "zfs",
    0xCA451A4E: "bcachefs",
    0x794C7630: "overlay",
    0x73717368: "squashfs",
    0xE0F5E1E2: "erofs",
}
"""By the magic number of statfs(2). Of the others some (NFS, 9p, virtiofs, FUSE) have their times from elsewhere."""

_libc = ctypes.CDLL(None, use_errno=True)
_LARGER_THAN_STATFS = 512


def kind_of(path: str) -> int:
    """The magic number of the file system that `path` lies on.

    Raises:
        OSError: there is nothing.
    """
    room = ctypes.create_string_buffer(_LARGER_THAN_STATFS)
    if _libc.statfs(os.fsencode(path), room) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return ctypes.c_long.from_buffer(room).value & 0xFFFFFFFF


def need_honest_times(path: str, *, memory_too: bool = False) -> None:
    """Let through what lies on a file system where every change shows in a ctime of this machine's clock.

    Args:
        memory_too: a tmpfs, also. There a page that some process has mapped for writing since before is written
            without a trace, even after `syncfs`; on other file systems `syncfs` makes the next store leave one.

    Raises:
        Refused: it lies on another one.
        OSError: there is nothing.
    """
    kind = kind_of(path)
    if kind not in _OURS and not (memory_too and kind == _TMPFS):
        raise Refused(f"{path} is on a file system (type {kind:#x}) whose times prove nothing")


def mount_of(path: str) -> int:
    """The id of the mount that `path` lies on: renames work within one only.

    Raises:
        OSError: there is nothing.
    """
    opened = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        text = Path(f"/proc/self/fdinfo/{opened}").read_text()
    finally:
        os.close(opened)
    return next(int(line.split(":")[1]) for line in text.splitlines() if line.startswith("mnt_id:"))
