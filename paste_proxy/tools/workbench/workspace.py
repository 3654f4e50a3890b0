"""The folder that the tools work in, and nothing outside of it.

A path is relative to it, its links are followed, and where it then leads has to lie inside. That keeps a model from
straying. It is no sandbox: whoever may change links at the same time, or `run` programs, is not held by it.
"""

import os
import stat
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from paste_proxy.tools.workbench.walking import walk

_NEAREST = 3
_SEEN = 20_000
"""Entries of the workspace that are looked through for a file of the same name."""


class Unable(Exception):
    """A tool cannot do what it is asked; the text is for the model and says what it may do instead."""


class Workspace:
    """The folder.

    Args:
        given: where it is, absolute.
    """

    def __init__(self, given: Path) -> None:
        self.given = given

    @cached_property
    def root(self) -> Path:
        """Where it really is. The first to ask asks the disk, and links in it are followed once and for all."""
        return Path(os.path.realpath(self.given))

    def place(self, path: str) -> Path:
        """Where a path leads, whether anything is there or not.

        Raises:
            Unable: out of the workspace, or nowhere.
        """
        try:
            real = Path(os.path.realpath(self.root / path))
        except (ValueError, OSError):
            raise Unable(f"{path!r} is no path; name one relative to {self.root}") from None
        if not real.is_relative_to(self.root):
            by_link = Path(os.path.normpath(self.root / path)).is_relative_to(self.root)
            how = "leads by a link out of" if by_link else "lies outside of"
            raise Unable(f"{path} {how} the workspace; name a path inside {self.root}")
        return real

    def name(self, place: Path) -> str:
        """How a place in the workspace is called: its path from there, with slashes."""
        return place.relative_to(self.root).as_posix()

    def folder(self, path: str) -> Path:
        """A folder that is there.

        Raises:
            Unable: it is not, or is something else.
        """
        place = self.place(path)
        if not stat.S_ISDIR(self._there(path, place).st_mode):
            raise Unable(f"{path} is a file, not a folder; read it, or name its folder")
        return place

    def file(self, path: str) -> Path:
        """A regular file that is there.

        Raises:
            Unable: it is not, or is something else.
        """
        place = self.place(path)
        mode = self._there(path, place).st_mode
        if stat.S_ISDIR(mode):
            raise Unable(f"{path} is a folder; list it, or name a file in it")
        if not stat.S_ISREG(mode):
            raise Unable(f"{path} is no regular file (a pipe, a socket or a device) and cannot be read")
        return place

    def _there(self, path: str, place: Path) -> os.stat_result:
        try:
            return place.stat()
        except (FileNotFoundError, NotADirectoryError):
            near = self._nearest(place)
            raise Unable(f"{path} is not there" + (f"; near it: {', '.join(near)}" if near else "")) from None

    def _nearest(self, place: Path) -> list[str]:
        """What may have been meant: a like name in the deepest folder that is there, or the same name elsewhere."""
        missing = place
        while not missing.parent.is_dir():
            missing = missing.parent
        beside = {each.name.casefold(): each for each in sorted(missing.parent.iterdir())}
        like = get_close_matches(missing.name.casefold(), beside, _NEAREST)
        if like:
            return [self.name(beside[name]) for name in like]
        same = (entry.path for entry in walk(self.root, self.root, most=_SEEN) if entry.name == place.name)
        return [path for path, _ in zip(same, range(_NEAREST), strict=False)]
