"""A file read in part, from the same file read whole. Line ends are line feeds; regular files are meant."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from paste_proxy.events.values import Json

Arguments: TypeAlias = Mapping[str, Json]

_NUMBERED = re.compile(r" *(\d+)([→\t])")
_WIDTH = 6
_WITH_END = re.compile(r"[^\n]*\n|[^\n]+")
_UNREADABLE = "\ufffd"
"""Stands for bytes that are no UTF-8; how many it stands for may depend on where a read began."""


@dataclass(frozen=True, slots=True)
class Ends:
    """First or last lines, as `@modelcontextprotocol/server-filesystem` gives them.

    `head` lines come as they are, without the end of the last; `tail` counts what stands between line ends,
    which come as line feeds; zero is as good as none.
    """

    head: str
    tail: str

    def core(self, arguments: Arguments) -> dict[str, Json] | None:
        """The arguments of the whole read; None if these ask for something else than lines of it."""
        head, tail = _count(arguments, self.head, 0), _count(arguments, self.tail, 0)
        if head is None or tail is None or (head and tail):
            return None
        return {name: value for name, value in arguments.items() if name not in (self.head, self.tail)}

    def cut(self, arguments: Arguments, text: str) -> str | None:
        """What these arguments give of a file's text."""
        head, tail = _count(arguments, self.head, 0), _count(arguments, self.tail, 0)
        if _UNREADABLE in text:
            return None
        if tail:
            return "\n".join(text.replace("\r\n", "\n").split("\n")[-tail:])
        if head:
            lines = text.split("\n")
            return "\n".join((lines if lines[-1] else lines[:-1])[:head])
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Lines from a number on, the first being 1, and how many.

    With `numbered`, each line comes with its number before it, six wide, and an arrow or a tab; without, lines
    come with their own ends and nothing else.
    """

    start: str
    count: str
    numbered: bool
    most: int | None
    """Lines that a read gives at most which does not say how many; None: all there are."""

    def core(self, arguments: Arguments) -> dict[str, Json] | None:
        """The arguments of the whole read; None if these ask for something else than lines of it."""
        if _count(arguments, self.start, 1) is None or _count(arguments, self.count, 1) is None:
            return None
        return {name: value for name, value in arguments.items() if name not in (self.start, self.count)}

    def cut(self, arguments: Arguments, text: str) -> str | None:
        """What these arguments give of what the whole read gave; None if the lines may not all be in it."""
        lines = text.split("\n") if self.numbered else _WITH_END.findall(text)
        if self.numbered and not _are_numbered(lines):
            return None
        start, count = _count(arguments, self.start, 1), _count(arguments, self.count, 1)
        if start is None or count is None or start > len(lines):
            return None
        end = start + count - 1 if self.count in arguments else None
        if (end is None or end > len(lines)) and self.most is not None and len(lines) >= self.most:
            return None
        return ("\n" if self.numbered else "").join(lines[start - 1 : end])


Lines: TypeAlias = Ends | Range


def _count(arguments: Arguments, name: str, least: int) -> int | None:
    """A whole number among the arguments, `least` where it is absent; None for anything else."""
    value = arguments.get(name, least)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= least else None


def _are_numbered(lines: list[str]) -> bool:
    """Whether these are all lines of a file from its first on, each with its number before it."""
    marks = {_mark(line, number) for number, line in enumerate(lines, 1)}
    return len(marks) == 1 and "" not in marks


def _mark(line: str, number: int) -> str:
    found = _NUMBERED.match(line)
    return found[2] if found and found[0][:-1] == str(number).rjust(_WIDTH) else ""
