"""Doing a single operation of a commit.

It comes to the same end however often it is begun, so that a commit that was broken off can be taken up again. What
somebody else has put at its target since it was planned is left as it is, as if they had come after the command.
"""

# ruff: noqa: PTH101, PTH102, PTH104 - a commit is thousands of paths, which stay the strings that the kernel gave

import errno
import os
import stat
from contextlib import suppress
from typing import assert_never

from paste_proxy.staging.copying import attributes, clear, copy, fill
from paste_proxy.staging.operations import Link, Meta, Mkdir, Mode, Move, Operation, Place, Remove, Times, Unmark, Write


def do(operation: Operation, *, again: bool = False) -> bool:
    """Do it. False: somebody else has been at its target since it was planned, which is left to them.

    Args:
        again: it may have been done in part already.

    Raises:
        OSError: it cannot be done.
    """
    if isinstance(operation, Move):
        return _move(operation)
    try:
        return _do(operation, again=again)
    except (FileNotFoundError, NotADirectoryError):  # the directory it is in was taken away
        return False


def _do(operation: Operation, *, again: bool) -> bool:
    match operation:
        case Remove():
            return _remove(operation)
        case Move():
            return _move(operation)
        case Mkdir(target):
            with suppress(FileExistsError):
                os.mkdir(target, 0o700)
            return stat.S_ISDIR(os.lstat(target).st_mode)
        case Place():
            return _place(operation, again=again)
        case Write():
            return _write(operation, again=again)
        case Link(source, target, spare):
            clear(spare)
            with suppress(FileExistsError):
                os.link(source, target, follow_symlinks=False)
            return os.path.samestat(os.lstat(source), os.lstat(target))
        case Unmark(target, names, mode):
            _unmark(target, names, mode)
        case Mode(target, mode):
            os.chmod(target, mode)
        case Meta():
            _describe(operation)
        case Times(target, atime_ns, mtime_ns):
            os.utime(target, ns=(atime_ns, mtime_ns), follow_symlinks=False)
        case _:
            assert_never(operation)
    return True


def _found(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _as_planned(found: os.stat_result | None, inode: int, ctime_ns: int, *, again: bool = False) -> bool:
    """Whether nobody else has been there; what we have begun ourselves has another ctime since."""
    if found is None:
        return inode == 0
    if ctime_ns == 0 and not stat.S_ISDIR(found.st_mode):
        return False
    return found.st_ino == inode and (again or ctime_ns in (0, found.st_ctime_ns))


def _remove(operation: Remove) -> bool:
    found = _found(operation.target)
    if found is None:
        return True
    if not _as_planned(found, operation.inode, operation.ctime_ns):
        return False
    try:
        os.rename(operation.target, operation.aside)
    except OSError:  # on another file system, or a directory that is read-only
        clear(operation.target)
    return True


def _move(operation: Move) -> bool:
    """Nothing is left behind for the sake of others: what is moved is the real thing."""
    found = _found(operation.source)
    if found is None or found.st_ino != operation.inode:
        return True  # it has been moved
    if _found(operation.target) is not None:
        raise FileExistsError(errno.EEXIST, "a directory cannot be moved to where something is", operation.target)
    os.rename(operation.source, operation.target)
    return True


def _place(operation: Place, *, again: bool) -> bool:
    source, target = operation.source, operation.target
    if _found(source) is None:
        return True  # it has been placed
    if not _as_planned(_found(target), operation.inode, operation.ctime_ns, again=again):
        return False
    if operation.inode:
        with suppress(OSError):  # on another file system: it is freed at once
            os.link(target, operation.aside, follow_symlinks=False)
    try:
        os.rename(source, target)
    except OSError as fault:
        if fault.errno != errno.EXDEV:
            raise
        clear(operation.via)
        copy(source, operation.via)
        os.rename(operation.via, target)
        clear(source)
    return True


def _write(operation: Write, *, again: bool) -> bool:
    if not _as_planned(_found(operation.target), operation.inode, operation.ctime_ns, again=again):
        return False
    source = os.open(operation.source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        target = _opened(operation.target)
        try:
            fill(source, target)
        finally:
            os.close(target)
    finally:
        os.close(source)
    return True


def _opened(target: str) -> int:
    """Open to write, even where its owner made it read-only; `Meta` sets its mode afterwards."""
    flags = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(target, flags)
    except PermissionError:
        os.chmod(target, stat.S_IMODE(os.lstat(target).st_mode) | stat.S_IWUSR)
        return os.open(target, flags)


def _unmark(target: str, names: tuple[str, ...], mode: int) -> None:
    try:
        _take_off(target, names)
    except PermissionError:  # an attribute of a read-only file
        os.chmod(target, mode | stat.S_IWUSR)
        _take_off(target, names)
    if not stat.S_ISLNK(found := os.lstat(target).st_mode) and stat.S_IMODE(found) != mode:
        os.chmod(target, mode)


def _take_off(target: str, names: tuple[str, ...]) -> None:
    for name in names:
        try:
            os.removexattr(target, name, follow_symlinks=False)
        except OSError as fault:
            if fault.errno != errno.ENODATA:
                raise


def _describe(operation: Meta) -> None:
    target = operation.target
    found = os.lstat(target)
    if (found.st_uid, found.st_gid) != (operation.uid, operation.gid):
        os.chown(target, operation.uid, operation.gid, follow_symlinks=False)
    have, wanted = attributes(target), operation.attributes
    if have != wanted:
        os.chmod(target, operation.mode | stat.S_IRUSR | stat.S_IWUSR)  # attributes of a read-only file are read-only
        for name in have.keys() - wanted.keys():
            os.removexattr(target, name)
        for name in wanted:
            if have.get(name) != wanted[name]:
                os.setxattr(target, name, bytes.fromhex(wanted[name]))
    os.chmod(target, operation.mode)
