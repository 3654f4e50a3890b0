"""The process in which `grep` searches: what is asked comes on stdin, the answer goes to stdout, each one JSON object.

Standard library only, so that it starts fast.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from paste_proxy.tools.workbench.globs import globs
from paste_proxy.tools.workbench.walking import plainly, walk

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

_CPU_S = 60
_FILE_BYTES = 10 * 10**6
_LOOKED_AT = 8_192
_LINE = 500
_ALL = 50_000

_LOOKS_AROUND = re.compile(r"\\[ABZ]|\(\?(?![:Paimsux])|[*+?}]\+")
"""What may match in a line that stands alone and not in one among others."""

Fits = Callable[[str], object]


def search(asked: dict[str, Any]) -> str:
    """The answer to a search.

    Raises:
        ValueError: a pattern that is none, in words for the model.
    """
    fits, may_fit = _fits(asked)
    writer = _WRITERS[asked["output"]](asked)
    for path, text in _files(asked):
        if not (text and may_fit(text)):
            continue
        lines = text.removesuffix("\n").split("\n")
        hits = [number for number, line in enumerate(lines) if fits(line)]
        if hits and not writer.write(path, lines, hits):
            break
    return writer.text()


class _Lines:
    """Matching lines, as `path:number:line`; those around them as `path-number-line`, and `--` between groups."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._left, self._context, self._limit = asked["limit"], asked["context"], asked["limit"]
        self._written: list[str] = []
        self._size = 0
        self._cut = ""

    def write(self, path: str, lines: list[str], hits: list[int]) -> bool:
        """Whether there is room for more."""
        shown = hits[: self._left]
        self._left -= len(shown)
        matching = set(shown)
        last = -1
        for number in self._around(shown, len(lines)):
            if self._context and self._written and number != last + 1:
                self._add("--")
            sign = ":" if number in matching else "-"
            self._add(f"{path}{sign}{number + 1}{sign}{_shortened(lines[number])}")
            last = number
            if self._size > _ALL:
                self._cut = "[cut here: too much to show; narrow the pattern, the path or the glob]"
                return False
        if len(shown) < len(hits):
            self._cut = f"[there are more than {self._limit} matches; raise limit, or narrow the path or the glob]"
        return not self._cut

    def text(self) -> str:
        """All that was found."""
        return "\n".join([*self._written, *([self._cut] if self._cut else [])]) or "[no match]"

    def _around(self, hits: list[int], count: int) -> Iterator[int]:
        ended = 0
        for hit in hits:
            begin, end = max(ended, hit - self._context), min(count, hit + self._context + 1)
            yield from range(begin, end)
            ended = max(ended, end)

    def _add(self, line: str) -> None:
        self._written.append(line)
        self._size += len(line) + 1


class _Paths:
    """Files with a match; with `counts` each as `path:matches`."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._limit, self._counts = asked["limit"], asked["output"] == "counts"
        self._written: list[str] = []

    def write(self, path: str, lines: list[str], hits: list[int]) -> bool:
        """Whether there is room for more."""
        if len(self._written) == self._limit:
            self._written.append(f"[there are more than {self._limit} such files; raise limit, or narrow the search]")
            return False
        self._written.append(f"{path}:{len(hits)}" if self._counts else path)
        return True

    def text(self) -> str:
        """All that was found."""
        return "\n".join(self._written) or "[no match]"


_WRITERS: dict[str, type[_Lines] | type[_Paths]] = {"lines": _Lines, "files": _Paths, "counts": _Paths}


def _fits(asked: dict[str, Any]) -> tuple[Fits, Fits]:
    """What tells whether a line matches, and what tells fast that no line of a text can."""
    pattern = re.escape(asked["pattern"]) if asked["literal"] else asked["pattern"]
    flags = re.IGNORECASE if asked["ignore_case"] else re.NOFLAG
    try:
        fits = re.compile(pattern, flags).search
        return fits, bool if _LOOKS_AROUND.search(pattern) else re.compile(pattern, flags | re.MULTILINE).search
    except (re.error, OverflowError, RecursionError) as fault:
        raise ValueError(
            f"{pattern!r} is not a regular expression ({fault}); mend it, or pass literal = true for a plain text"
        ) from None


def _files(asked: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The text files to search, each with what is in it."""
    root, start = Path(asked["root"]), Path(asked["start"])
    wanted = globs(asked["glob"]) if asked["glob"] else ()
    if not start.is_dir():
        paths = iter([start.relative_to(root).as_posix()])
    else:
        below = 0 if start == root else len(start.relative_to(root).as_posix()) + 1
        paths = (
            entry.path
            for entry in walk(root, start, everything=asked["ignored"])
            if not (entry.is_folder or entry.is_link)
            and (not wanted or any(glob.fits(entry.path[below:]) for glob in wanted))
        )
    for path in paths:
        text = _text(root / path)
        if text is not None:
            yield path, text


def _text(place: Path) -> str | None:
    """What is in a file; None for one that is not to be searched. Bytes that are no UTF-8 stand for Latin-1."""
    try:
        with open(place, "rb", opener=plainly) as file:
            data = file.read(_FILE_BYTES + 1)
    except OSError:
        return None
    if b"\0" in data[:_LOOKED_AT] or len(data) > _FILE_BYTES:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n")


def _shortened(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[:_LINE]} [{len(line) - _LINE} more characters]"


def _main() -> None:
    _end_some_time()
    try:
        answer = {"found": search(json.load(sys.stdin))}
    except ValueError as fault:
        answer = {"unable": str(fault)}
    json.dump(answer, sys.stdout)


def _end_some_time() -> None:
    """Not to search for ever, should whoever stops this process be gone before."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))


if __name__ == "__main__":
    _main()
