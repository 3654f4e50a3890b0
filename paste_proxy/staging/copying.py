"""Content, attributes and whole trees: copied, compared, cleared away."""

# ruff: noqa: PTH101, PTH102, PTH108, PTH115, PTH123, PTH208, PTH211 - a commit is thousands of paths, which stay the strings that the kernel gave

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress

_PIECE_BYTES = 2**30


def fill(source: int, target: int) -> None:
    """Make an open file's content that of another one, with its holes.

    Raises:
        OSError: of reading or writing.
    """
    size = os.fstat(source).st_size
    pieces = list(_pieces(source, size))
    if pieces != [(0, size)]:  # a file without holes is written over, which is much faster than to free what it holds
        os.ftruncate(target, 0)
    os.ftruncate(target, size)
    for start, end in pieces:
        os.lseek(target, start, os.SEEK_SET)
        while start < end:
            sent = os.sendfile(target, source, start, min(end - start, _PIECE_BYTES))
            if not sent:
                return  # it has become shorter
            start += sent


def _pieces(source: int, size: int) -> Iterator[tuple[int, int]]:
    """Where there is something else than holes."""
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
        except OSError as fault:
            if fault.errno == errno.ENXIO:  # nothing but a hole from here on
                return
            raise
        end = os.lseek(source, start, os.SEEK_HOLE)
        yield start, end


def same(first: str, second: str) -> bool:
    """Whether two files of one size hold the same bytes.

    Raises:
        OSError: of reading.
    """
    with open(first, "rb", buffering=0) as one, open(second, "rb", buffering=0) as other:
        while True:
            piece = one.read(2**18)
            if piece != other.read(2**18):
                return False
            if not piece:
                return True


def copy(source: str, target: str) -> None:
    """Copy a file of any kind but a device, or a directory with all that is in it, to where nothing is.

    Hard links among what is copied become files of their own.

    Raises:
        OSError: of reading or writing.
    """
    found = os.lstat(source)
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFDIR:
        os.mkdir(target, 0o700)
        for name in os.listdir(source):
            copy(f"{source}/{name}", f"{target}/{name}")
    elif kind == stat.S_IFLNK:
        os.symlink(os.readlink(source), target)
    elif kind == stat.S_IFREG:
        _copy_content(source, target)
    else:
        os.mknod(target, kind | 0o600)
    _copy_description(source, target, found)


def _copy_content(source: str, target: str) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fill(reading, writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy_description(source: str, target: str, found: os.stat_result) -> None:
    made = os.lstat(target)
    if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
        os.chown(target, found.st_uid, found.st_gid, follow_symlinks=False)
    for name in os.listxattr(source, follow_symlinks=False):
        os.setxattr(target, name, os.getxattr(source, name, follow_symlinks=False), follow_symlinks=False)
    if not stat.S_ISLNK(found.st_mode):
        os.chmod(target, stat.S_IMODE(found.st_mode))
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns), follow_symlinks=False)


def attributes(path: str, without: str = "") -> dict[str, str]:
    """Extended attributes by name, values in hexadecimal; none where there is no such thing.

    Args:
        without: those with this prefix are left out.
    """
    try:
        names = [
            name for name in os.listxattr(path, follow_symlinks=False) if not (without and name.startswith(without))
        ]
    except OSError as fault:
        if fault.errno == errno.ENOTSUP:
            return {}
        raise
    return {name: os.getxattr(path, name, follow_symlinks=False).hex() for name in names}


def clear(path: str) -> None:
    """Take away what is there, if anything is, read-only directories too.

    Raises:
        OSError: it cannot be taken away.
    """
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISDIR(found.st_mode):
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    if os.geteuid() != 0:
        _open_up(path)
    shutil.rmtree(path)


def _open_up(path: str) -> None:
    folders = [path]
    for folder in folders:  # which grows meanwhile
        if os.lstat(folder).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(folder, stat.S_IRWXU)
        with os.scandir(folder) as entries:
            folders += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
