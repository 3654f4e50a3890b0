"""A process that takes away all that lies in a folder, and the folder, without being in the way of others.

Standard library only: runs inside, though in no view.
"""

# ruff: noqa: PTH101, PTH104, PTH106, PTH108, PTH208 - pathlib is large

import os
import select
import stat
from typing import NoReturn

from paste_proxy.staging import kernel, quiet

_SIGKILL = 9


def sweep(folder: str, parent: int) -> NoReturn:
    """Do it, and end; sooner if whoever is at the other end of stdin does not want it any more.

    Args:
        parent: our own, with which we end.
    """
    os.setsid()
    quiet.give_way()
    kernel.die_with_parent(_SIGKILL)
    if os.getppid() == parent:
        _Sweep(folder).run()
    os._exit(0)


class _Sweep:
    """Never goes deep: a directory in another one is moved up before it is looked into, however long its path was.
    Others may be sweeping, too."""

    def __init__(self, folder: str) -> None:
        self._folder, self._moved = folder, 0
        self._asker = select.poll()
        self._asker.register(0, 0)  # tells of its end alone

    def run(self) -> None:
        stuck = set[str]()
        try:
            while names := set(os.listdir(self._folder)) - stuck:
                for name in names:
                    if not self._take_away(f"{self._folder}/{name}"):
                        stuck.add(name)
            os.rmdir(self._folder)
        except OSError:  # others have, or something is stuck
            return

    def _take_away(self, path: str) -> bool:
        """Whether it is gone."""
        try:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
                return True
            os.chmod(path, stat.S_IRWXU)
            with os.scandir(path) as entries:
                for entry in entries:
                    self._take_out(entry)
            os.rmdir(path)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def _take_out(self, entry: os.DirEntry[str]) -> None:
        if self._asker.poll(0):
            os._exit(0)
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
            return
        if os.geteuid() != 0:
            os.chmod(entry.path, stat.S_IRWXU)  # to be moved it has to be written to
        self._moved += 1
        os.rename(entry.path, f"{self._folder}/{os.getpid()}-{self._moved}")
