"""Directories listed in another order than usual.

In a directory that was there before, an overlay shows the names of old in their own order and those that are new after
them; a file system has them anywhere. Nothing else is in another order: not where names only went or were replaced, and
not in directories that are new themselves. So it matters only to who makes a name and then lists the directory, without
putting what it finds in an order of its own. Only the workspace counts: elsewhere are temporary files and caches, which
are looked through and not shown. Nor do the current directory of Python and those with modules: for an import it lists
them again if a name has come there, which is not to be told from anything else that it lists them for.

Standard library only: runs inside.
"""

import os
import re

from paste_proxy.staging.calls import Call
from paste_proxy.staging.outside import Outside
from paste_proxy.staging.places import interpreter_of

_OPENS = frozenset(("open", "openat", "openat2"))
_MAKES = frozenset(("creat", "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat", "bind"))
_MOVES = frozenset(("rename", "renameat", "renameat2"))
_REMOVES = frozenset(("unlink", "unlinkat", "rmdir"))
_BECOMES = frozenset(("execve", "execveat"))
_SORTING = frozenset(("sh", "bash", "dash", "zsh", "ksh", "fish", "git", "go", "rustc"))
"""Programs that put in order what they list, or to which it is all the same."""
_SORTING_WITHOUT = {"ls": re.compile(rb"-\w*[Uf]\w*|--sort=none")}
"""The same, but with these options."""
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_CURRENT = re.compile(rb"AT_FDCWD<([^>]*)>")
_ARGUMENT = re.compile(rb'"((?:[^"\\]|\\.)*)"')


class Listings:
    """Those of one view.

    Args:
        inside: the workspace.
    """

    def __init__(self, inside: str, outside: Outside) -> None:
        self._inside, self._outside = inside.rstrip("/") + "/", outside
        self._new: dict[str, set[str]] = {}
        """Names by the directory of old that they came to."""
        self._moved: set[str] = set()
        """Where something was brought from elsewhere: what is in there may be old, too."""
        self._sorting: set[int] = set()
        self._python: set[int] = set()
        """Processes."""

    def began(self, child: int, parent: int) -> None:
        """A process is a copy of another one."""
        for kind in (self._sorting, self._python):
            if parent in kind:
                kind.add(child)

    def by(self, call: Call, places: list[str]) -> str | None:
        """Why the command cannot be committed after this call, in words.

        Args:
            places: that it named, free of links.
        """
        if not call.done or not places:
            return None
        if call.name in _OPENS:
            if b"O_CREAT" in call.args:
                self._made(places[-1])
            elif b"O_DIRECTORY" in call.args and b"O_PATH" not in call.args:
                return self._listed(places[-1], call)
        elif call.name in _MAKES:
            self._made(places[-1])
        elif call.name in _REMOVES:
            self._removed(places[0])
        elif call.name in _MOVES:
            self._renamed(places[0], places[-1])
        elif call.name in _BECOMES:
            self._became(call, places[-1])
        return None

    def _made(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        if path.startswith(self._inside) and not self._outside.has(path):
            self._new.setdefault(folder, set()).add(name)

    def _removed(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        self._new.get(folder, set()).discard(name)

    def _renamed(self, old: str, new: str) -> None:
        self._removed(old)
        self._made(new)
        self._moved.add(new)
        for folder in [folder for folder in self._new if (folder + "/").startswith(old + "/")]:
            self._new[new + folder[len(old) :]] = self._new.pop(folder)

    def _listed(self, folder: str, call: Call) -> str | None:
        if call.pid in self._sorting or not self._new.get(folder) or not self._is_of_old(folder):
            return None
        if call.pid in self._python and _is_for_imports(folder, call):
            return None
        return "a directory whose names have another order here"

    def _is_of_old(self, folder: str) -> bool:
        """Whether it shows names of old, too. Of such a directory an overlay counts no links, and some file systems
        count none of any."""
        try:
            if os.stat(folder).st_nlink != 1:  # noqa: PTH116  pathlib takes time to load
                return False
        except OSError:  # it has gone meanwhile
            pass
        return self._outside.has(folder) or any((folder + "/").startswith(moved + "/") for moved in self._moved)

    def _became(self, call: Call, program: str) -> None:
        path, *arguments = _ARGUMENT.findall(call.args)
        name = os.fsdecode((interpreter_of(program) or path).rpartition(b"/")[2])
        unsorted = _SORTING_WITHOUT.get(name)
        sorting = name in _SORTING or (unsorted is not None and not any(map(unsorted.fullmatch, arguments[1:])))
        for kind, belongs in ((self._sorting, sorting), (self._python, _PYTHON.fullmatch(name))):
            if belongs:
                kind.add(call.pid)
            else:
                kind.discard(call.pid)


def _is_for_imports(folder: str, call: Call) -> bool:
    """Whether modules may be looked for there."""
    if (here := _CURRENT.match(call.args)) and folder == os.fsdecode(here[1]):
        return True
    try:
        return any(name.endswith(".py") for name in os.listdir(folder))  # noqa: PTH208  pathlib takes time to load
    except OSError:
        return False
