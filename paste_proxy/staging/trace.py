"""What a command did, by the words of its tracer: what it looked at, and where a view was not enough for it.

Standard library only: runs inside, while the command runs.
"""

import os
import re

from paste_proxy.staging.calls import Call, Calls
from paste_proxy.staging.escapes import Escapes
from paste_proxy.staging.orders import Orders
from paste_proxy.staging.outside import Outside
from paste_proxy.staging.places import Places, interpreter_of

_PATH = re.compile(rb'(?:(?:AT_FDCWD|-?\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"')
_CURRENT = re.compile(rb"AT_FDCWD<([^>]*)>")
_SOCKET_PATH = re.compile(rb'sun_path="((?:[^"\\]|\\.)*)"')
_TWO_PATHS = {"rename", "renameat", "renameat2", "link", "linkat"}
_NEW_PROCESS = {"clone", "clone3", "fork", "vfork"}
_NO_PATH = {*_NEW_PROCESS, "socket", "kill", "pidfd_open", "fchdir", "getcwd", "shmget", "semget", "msgget"}
_OPENING = {"open", "openat", "openat2", "creat"}
_MAKING = {"mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "bind"}
_DESCRIBING = {"stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"}
_OWN = ("/proc/", "/sys/", "/dev/")
_SHARED = "/dev/shm/"  # noqa: S108  nothing is put there


class Trace:
    """Reads it as it comes. `poisons`, `looked_at` and `absent` are as far as it has come."""

    def __init__(self, orders: Orders, outside: Outside) -> None:
        self._inside: str = orders.workspace.rstrip("/") + "/"
        self._calls, self._places, self._escapes = Calls(), Places(), Escapes(orders, outside)
        self._first = [orders.cwd]
        self._directories: dict[int, list[str]] = {}
        """The current directory of each process, in a box, which threads share."""
        self._of_unknown: dict[int, list[Call]] = {}
        """What processes did whose parent's call has not returned yet."""
        self._known: dict[tuple[str, bytes, str], str] = {}
        self.poisons: list[str] = []
        self.looked_at: set[str] = set()
        self.absent: set[str] = set()
        """Where it found nothing, but for what it made there itself."""
        self._made: set[str] = set()

    def feed(self, chunk: bytes) -> None:
        """The next of what the tracer wrote."""
        for call in self._calls.feed(chunk):
            self._follow(call)
        if self._calls.limit is not None:
            self.poisons.append(f"it came to a limit ({os.fsdecode(self._calls.limit)})")
        if self._calls.strange is not None:
            self.poisons.append(f"its trace is not understood ({os.fsdecode(self._calls.strange[:100])})")

    def end(self, command: int) -> list[str]:
        """It has ended: what is wrong, with the trace itself as well."""
        if not self.poisons and (command not in self._calls.ended or self._of_unknown):
            self.poisons.append("its trace is not whole")
        return self.poisons

    def _follow(self, call: Call) -> None:
        directory = self._directories.setdefault(call.pid, self._first) if not self._directories else None
        directory = directory or self._directories.get(call.pid)
        if directory is None:
            self._of_unknown.setdefault(call.pid, []).append(call)
            return
        if here := _CURRENT.match(call.args):
            directory[0] = _text(here[1])
        places = self._named(call, directory[0])
        if poison := self._escapes.by(call, places):
            self.poisons.append(poison)
        if not call.done:
            return
        if call.name == "chdir":
            directory[0] = places[-1]
        elif call.name == "fchdir":
            directory[0] = _text(call.args.partition(b"<")[2].rpartition(b">")[0])
        elif call.name in _NEW_PROCESS:
            self._escapes.began(int(call.result), call.pid)
            self._begin(int(call.result), directory if b"CLONE_FS" in call.args else [directory[0]])

    def _begin(self, child: int, directory: list[str]) -> None:
        self._directories[child] = directory
        for call in self._of_unknown.pop(child, ()):
            self._follow(call)

    def _named(self, call: Call, current: str) -> list[str]:
        """The places that a call named, free of links, what it opened last."""
        if call.name in _NO_PATH:
            return []
        how = _how(call)
        if call.name in ("connect", "bind"):
            return [self._place(current, path, how) for path in _SOCKET_PATH.findall(call.args)]
        named = _PATH.findall(call.args)
        if call.name in ("symlink", "symlinkat"):  # the first is a text
            named = named[1:]
        places = [
            self._place(_text(base) if base.startswith(b"/") else current, path, how)
            for base, path in named[: 2 if call.name in _TWO_PATHS else 1]
            if path
        ]
        if call.name.startswith("execve") and call.done and places and (interpreter := interpreter_of(places[-1])):
            self._place(current, interpreter, _FOUND)
        if call.result_path and call.result_path.startswith(b"/"):
            places.append(self._place("/", call.result_path, how))
        return places

    def _place(self, base: str, path: bytes, how: str) -> str:
        if (place := self._known.get((base, path, how))) is not None:
            return place
        *links, place = self._places.on_the_way(os.path.join(base, _text(path)))  # noqa: PTH118  pathlib takes time to load
        for link in links:
            self._looked(link, _FOUND)
        # shells ask for every directory above their own: as it is on the way there, it is looked after anyhow
        if how != _DESCRIBED or not path.startswith(b"/") or not self._inside.startswith(place.rstrip("/") + "/"):
            self._looked(place, how)
        self._known[base, path, how] = place
        return place

    def _looked(self, place: str, how: str) -> None:
        if place.startswith(_SHARED):
            if how == _ABSENT:  # others have none of it, and must not have when it is asked for
                self.absent.add(place)
            return
        if (place + "/").startswith(self._inside) or (place + "/").startswith(_OWN):
            return
        if how in (_ABSENT, _MADE):
            if place not in self.looked_at:
                self.absent.add(place)
                if how == _MADE:
                    self._made.add(place)
        elif place not in self._made:
            self.absent.discard(place)
            self.looked_at.add(place)


_FOUND, _DESCRIBED, _MADE, _ABSENT = "found", "described", "made", "absent"


def _how(call: Call) -> str:
    """What a call found at the path that it named."""
    if call.error == "ENOENT" and call.name not in _TWO_PATHS:
        return _ABSENT
    if call.done and (call.name in _MAKING or (call.name in _OPENING and b"O_CREAT" in call.args)):
        return _MADE
    return _DESCRIBED if call.name in _DESCRIBING else _FOUND


def _text(quoted: bytes) -> str:
    """A path as the tracer writes it."""
    if b"\\" in quoted:
        quoted = quoted.decode("unicode_escape").encode("latin-1")
    return os.fsdecode(quoted)
