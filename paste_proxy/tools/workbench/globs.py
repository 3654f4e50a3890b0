"""Globs of paths, as `.gitignore` has them: `*` and `?` keep within one name, `**` stands for any number of folders.

A path is matched name by name, so that no pattern takes longer than names times parts. Standard library only, as all
that the searching process imports.
"""

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cache

_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST = 256
"""Globs that one with braces may stand for."""


@dataclass(frozen=True, slots=True)
class Glob:
    """One glob, over paths from the folder that it is for."""

    parts: tuple["re.Pattern[str] | None", ...]
    """For each name of a path its pattern; None stands for any number of names."""

    def fits(self, path: str) -> bool:
        """Whether it means this path."""
        if self.parts[0] is None and len(self.parts) == 2 and self.parts[1] is not None:
            return self.parts[1].match(path, path.rfind("/") + 1) is not None  # most are so
        names = path.split("/")
        ends = {0}
        for part in self.parts:
            if part is None:
                ends = set(range(min(ends), len(names) + 1))
            else:
                ends = {end + 1 for end in ends if end < len(names) and part.match(names[end])}
            if not ends:
                return False
        return len(names) in ends


@cache
def glob(pattern: str) -> Glob:
    """A glob without alternatives. Without a slash, but for one at its end, it is for names in any folder."""
    anchored = "/" in pattern.rstrip("/")
    names = pattern.strip("/").split("/")
    if names[-1] == "**":
        names.append("*")
    parts = tuple(None if name == "**" else re.compile(translate(name)) for name in names)
    return Glob(parts if anchored else (None, *parts))


def globs(pattern: str) -> tuple[Glob, ...]:
    """The globs that one with braces stands for, `*.{js,ts}`.

    Raises:
        ValueError: too many.
    """
    done: list[str] = []
    ahead = [pattern.removeprefix("./")]
    while ahead:
        each = ahead.pop(0)
        found = _BRACES.search(each)
        if found is None:
            done.append(each)
        else:
            ahead += [each[: found.start()] + choice + each[found.end() :] for choice in found[1].split(",")]
        if len(done) + len(ahead) > _MOST:
            raise ValueError(f"the glob {pattern!r} has too many alternatives")
    return tuple(glob(each) for each in done)
