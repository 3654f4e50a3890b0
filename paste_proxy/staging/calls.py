"""The lines of the tracer as calls. Standard library only: runs inside."""

import re
from collections.abc import Iterator

_CALL = re.compile(
    rb"(\w+)\((.*)\) += (-?\d+|\?|0x[0-9a-f]+)(?:<([^>]*)>(?:\(deleted\))?)?(?: (E[A-Z0-9]+))?(?: \(.*\))?"
)
_RESUMED = re.compile(rb"<\.\.\. \w+ resumed>")
_SUPERSEDED = re.compile(rb"\+\+\+ superseded by execve in pid (\d+)")
_LIMITS = (b"--- SIGXFSZ ", b"--- SIGXCPU ")
_LOOKS = (b"newfstatat(AT_FDCWD<", b"statx(AT_FDCWD<")
_UNFINISHED = b" <unfinished ...>"


class Call:
    """One call that has returned."""

    __slots__ = ("args", "error", "name", "pid", "result", "result_path")

    def __init__(self, pid: int, match: re.Match[bytes]) -> None:
        name, self.args, self.result, self.result_path, error = match.groups()
        self.pid, self.name, self.error = pid, name.decode(), (error or b"").decode()

    @property
    def done(self) -> bool:
        """Whether it did what it is for."""
        return not self.error and self.result != b"?"


class Calls:
    """Puts together lines from pieces, and calls from halves that others came between."""

    def __init__(self) -> None:
        self._rest = b""
        self._halves: dict[int, bytes] = {}
        self._looks: set[tuple[bytes, bytes]] = set()
        self.limit: bytes | None = None
        """A line that tells of a signal for a limit."""
        self.ended: set[int] = set()
        """Processes and threads that have ended."""
        self.strange: bytes | None = None
        """A line that was not understood."""

    def feed(self, chunk: bytes) -> Iterator[Call]:
        """The calls that are complete with this."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            number, _, text = line.partition(b" ")
            text = text.lstrip()
            if number.isdigit() and not self._is_seen(text) and (call := self._read(int(number), text)):
                yield call

    def _is_seen(self, text: bytes) -> bool:
        """Whether it is a look at what was looked at before, with the same outcome: most calls of most programs are,
        and to understand one takes time."""
        if not text.startswith(_LOOKS) or text.endswith(_UNFINISHED):
            return False
        look = (text[: text.rfind(b'"')], text[text.rfind(b") ") :])
        if look in self._looks:
            return True
        self._looks.add(look)
        return False

    def _read(self, pid: int, text: bytes) -> Call | None:
        if text.startswith(b"+++ "):
            if superseded := _SUPERSEDED.match(text):
                self._halves[int(superseded[1])] = self._halves.pop(pid, b"")
            else:
                self.ended.add(pid)
            return None
        if text.startswith(b"--- "):
            self.limit = text if text.startswith(_LIMITS) else self.limit
            return None
        if text.endswith(_UNFINISHED):
            self._halves[pid] = text.removesuffix(_UNFINISHED)
            return None
        if resumed := _RESUMED.match(text):
            text = self._halves.pop(pid, b"") + text[resumed.end() :]
        if match := _CALL.fullmatch(text):
            return Call(pid, match)
        if b" = ?" not in text:  # a process that ended in the middle of a call
            self.strange = text
        return None
