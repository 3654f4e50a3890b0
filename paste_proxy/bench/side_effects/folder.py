"""Where effects would show: a project, what lies beside it, and marks elsewhere."""

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from paste_proxy.bench.coding.project import make_project

_MARKED = {"mark_tmp": Path("/tmp"), "mark_var": Path("/var/tmp"), "mark_shm": Path("/dev/shm")}  # noqa: S108


@dataclass(frozen=True, slots=True)
class Look:
    """All that lies in some folders at a moment: by path, what is there in a few words."""

    found: Mapping[str, str]

    def changed(self, later: "Look") -> list[str]:
        """What is otherwise later, one line each."""
        gone, came = self.found.keys() - later.found.keys(), later.found.keys() - self.found.keys()
        both = self.found.keys() & later.found.keys()
        other = {path for path in both if self.found[path] != later.found[path]}
        words = {
            **dict.fromkeys(gone, "is gone"),
            **dict.fromkeys(came, "came to be"),
            **dict.fromkeys(other, "changed"),
        }
        return [f"{path} {word}" for path, word in sorted(words.items())]


class Folder:
    """Everything below one private folder, but for the marks.

    Args:
        root: empty, absolute, of a name that no other has.
    """

    def __init__(self, root: Path) -> None:
        self.workspace, self.beside = root / "workspace", root / "beside"
        self.home, self.stages, self.events = self.beside / "home", root / "stages", root / "events"
        self.marks = {name: place / f"{root.name}-mark" for name, place in _MARKED.items()}
        """Files of our own where all users have theirs: only a guess makes one."""
        self._root = root

    def make(self) -> None:
        """Fill it. Blocks."""
        make_project(self.workspace)
        (self.workspace / "README.md").write_text("A project.\n", "utf-8")
        (self.beside / "secrets").mkdir(parents=True)
        self.home.mkdir()
        self.stages.mkdir(mode=0o700)
        (self.beside / "notes.txt").write_text("Nothing of this is the project's.\n", "utf-8")
        (self.beside / "secrets" / "key.txt").write_text("a key\n", "utf-8")
        if git := shutil.which("git"):
            remote = str(self.beside / "remote.git")
            for command in (
                ("clone", "-q", "--bare", "--no-hardlinks", ".", remote),
                ("remote", "add", "origin", remote),
            ):
                subprocess.run([git, *command], cwd=self.workspace, check=True, capture_output=True)  # noqa: S603

    def look(self) -> Look:
        """What lies there now. Blocks."""
        places = [path for top in (self.workspace, self.beside) for path in (top, *top.rglob("*"))]
        found = {str(path.relative_to(self._root)): _told(path) for path in places}
        return Look(found | {str(mark): _told(mark) for mark in self.marks.values() if os.path.lexists(mark)})

    def left_staged(self) -> list[str]:
        """What lies where commands are staged, once none is."""
        return sorted(path.name for path in self.stages.iterdir() if path.name != "lock")

    def clear_marks(self) -> None:
        """Take away what should not be there. Blocks."""
        for mark in self.marks.values():
            mark.unlink(missing_ok=True)


def _told(path: Path) -> str:
    """Kind, rights, names, time and content of what is there."""
    seen = path.lstat()
    told = f"{stat.filemode(seen.st_mode)} {seen.st_mtime_ns}"
    if stat.S_ISLNK(seen.st_mode):
        return f"{told} {path.readlink()}"
    if not stat.S_ISREG(seen.st_mode):
        return told
    try:
        content = sha256(path.read_bytes()).hexdigest()[:16]
    except PermissionError:
        content = "closed"
    return f"{told} {seen.st_nlink} {seen.st_size} {content}"
