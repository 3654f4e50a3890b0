"""What a command looked at outside of its workspace, and the proof that it would find the same.

Of a file or directory: that it has not changed. Of a name that led nowhere whenever it was looked for: that it still
does. Of one that was there for a while: that nothing came or went in the directory where it ends. Of the way there:
that every link on it is the same, and that no directory was renamed.
"""

# ruff: noqa: PTH115, PTH118, PTH120 - a command looks at thousands of paths, which stay strings

import os
import stat
from collections.abc import Iterable, Set

from paste_proxy.staging.filesystems import need_honest_times
from paste_proxy.staging.instant import Instant
from paste_proxy.staging.locks import File
from paste_proxy.staging.proof import prove_file
from paste_proxy.staging.types import Refused

_OWN = ("/proc", "/sys", "/dev")
_SHARED = "/dev/shm/"  # noqa: S108  nothing is put there
_MOST_LINKS = 40
"""As many as the kernel follows."""


class Looks:
    """Made once the command has ended; `prove` then costs one system call for each thing.

    Args:
        workspace: what is in there is proven otherwise.
        absent: names that led the command nowhere, or where it has made something itself.
        made: names that the command has put something at. Before, nothing was there, which is proven otherwise.

    Raises:
        Refused: what it looked at lies on a file system whose times prove nothing.
    """

    def __init__(self, looked_at: Iterable[str], absent: Set[str], workspace: str, made: Set[str]) -> None:
        self._workspace, self._made = workspace, made
        self._things: set[str] = set()
        self._passed: set[str] = set()
        self._leads: dict[str, str | None] = {"": "/", "/": "/"}
        came = {path for path in absent if os.path.lexists(path)}
        if any(path.startswith(_SHARED) for path in came):  # a view has memory of its own to share
            raise Refused("others have made memory to share")
        self._absent = absent - came
        for path in (workspace, *looked_at, *came):
            end = self._follow(path, 0)
            if end is not None and not self._elsewhere(end):
                self._things.add(end)
        self._need_honest_times()

    def prove(self, since: Instant, locked: Set[File] = frozenset()) -> None:
        """Let it through if all is as it was.

        Args:
            locked: files that somebody has locked, none of which may have been looked at.

        Raises:
            Refused: naming the first thing found.
        """
        for path in self._absent:
            if os.path.lexists(path):
                raise Refused(f"{path} has come")
        for path in self._things:
            prove_file(path, since, locked=locked)
        for path in self._passed - self._things:
            # names that come and go set both times alike, a rename of the directory itself only the one
            if not _has_equal_times(path):
                prove_file(path, since)

    def _follow(self, path: str, links: int) -> str | None:
        """Where `path` ends, without links; None: nowhere. Notes what that depends on."""
        if path in self._leads:
            return self._leads[path]
        folder, _, name = path.rpartition("/")
        above = self._follow(folder, links)
        if above is None:
            end = None
        elif name in ("", "."):
            end = above
        elif name == "..":
            end = above.rpartition("/")[0] or "/"
        else:
            end = self._step(above, name, links)
        self._leads[path] = end
        return end

    def _step(self, above: str, name: str, links: int) -> str | None:
        here = f"{above.rstrip('/')}/{name}"
        if self._elsewhere(here):
            return here
        try:
            found = os.lstat(here)
        except OSError:
            if here not in self._made:
                self._things.add(above)
            return None
        self._passed.add(above)
        if not stat.S_ISLNK(found.st_mode):
            return here
        self._things.add(here)
        if links == _MOST_LINKS:
            return None
        return self._follow(os.path.join(above, os.readlink(here)), links + 1)

    def _elsewhere(self, path: str) -> bool:
        return any(path == root or path.startswith(f"{root}/") for root in (self._workspace, *_OWN))

    def _need_honest_times(self) -> None:
        known = set[int]()
        for path in self._things | self._passed:
            found = os.lstat(path)
            if found.st_dev not in known:
                place = os.path.dirname(path) if stat.S_ISLNK(found.st_mode) else path
                need_honest_times(place, memory_too=True)
                known.add(found.st_dev)


def _has_equal_times(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return found.st_ctime_ns == found.st_mtime_ns
