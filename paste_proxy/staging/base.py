"""The folder under which stages lie: each process has one of its own in there, locked for as long as it lives.

What a process that is gone left behind is finished, if its commit was decided, and is put away.
"""

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.staging import journal
from paste_proxy.staging.copying import clear
from paste_proxy.staging.gone import put_away

_LOCK = "lock"
_PREFIX = "process-"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was found of processes that are gone."""

    committed: int = 0
    discarded: int = 0
    unfinished: tuple[str, ...] = ()
    """Folders of commits that were decided and cannot be finished now; the next start tries again."""


class Claim:
    """A folder of our own. Blocks, as everything here.

    Raises:
        OSError: of making it.
    """

    def __init__(self, base: Path) -> None:
        with _alone_in(base):
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=os.path.realpath(base)))
            self._lock = _open(self.folder / _LOCK)
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def release(self, *, keep: bool) -> None:
        """Give it back, empty.

        Args:
            keep: something in it is to be found by `recover`.

        Raises:
            OSError: of clearing it away, which `recover` then does.
        """
        try:
            if not keep:
                clear(str(self.folder))
        finally:
            os.close(self._lock)


def recover(base: Path) -> Recovered:
    """Finish or put away what processes that are gone left, whenever and however they ended. Safe to be broken off.

    Raises:
        OSError: of using `base`.
    """
    found = Recovered()
    with _alone_in(base):
        for folder in sorted(base.glob(f"{_PREFIX}*")):
            found = _recover(folder, found)
    return found


def _recover(folder: Path, found: Recovered) -> Recovered:
    lock = _open(folder / _LOCK)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return found
    try:
        committed, discarded, unfinished = found.committed, found.discarded, list[str]()
        for stage in sorted(path for path in folder.iterdir() if path.is_dir()):
            try:
                decided = journal.decided(stage)
                if decided is not None:
                    journal.carry_out(stage, decided)
                put_away(stage, folder.parent)
            except OSError:
                unfinished.append(str(stage))
                continue
            committed, discarded = committed + (decided is not None), discarded + (decided is None)
        if not unfinished:
            clear(str(folder))
        return Recovered(committed, discarded, (*found.unfinished, *unfinished))
    finally:
        os.close(lock)


@contextmanager
def _alone_in(base: Path) -> Iterator[None]:
    """Nobody else claims or recovers meanwhile."""
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    _need_private(base)
    lock = _open(base / _LOCK)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _need_private(base: Path) -> None:
    """A commit that somebody else had written down there would be carried out with our rights.

    Raises:
        OSError: others can write there, or it is theirs.
    """
    found = base.stat()
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EPERM, "it has to be ours, and writable by nobody else", str(base))


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
