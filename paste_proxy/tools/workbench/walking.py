"""A walk through a folder: sorted, links not followed, without what `.gitignore` files leave out.

Only those in the workspace count, from its root down; what lies outside of it is not asked. Standard library only.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.tools.workbench.globs import Glob, glob

_NEVER = ".git"
_IGNORE_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder or link on the way."""

    path: str
    """From the workspace, with slashes."""
    name: str
    is_folder: bool
    is_link: bool


@dataclass(frozen=True, slots=True)
class _Rule:
    """A line of a `.gitignore`."""

    below: int
    """Length of the path of its folder, with the slash."""
    pattern: Glob
    only_folders: bool
    keeps: bool
    """It takes back what earlier lines left out."""


def walk(root: Path, start: Path, *, everything: bool = False, most: int | None = None) -> Iterator[Entry]:
    """All that is below `start`, folders before what is in them.

    Args:
        root: the workspace.
        start: in it; itself looked into even if it is left out.
        everything: also what is left out, but for `.git`.
        most: entries after which the walk ends.
    """
    rules = [] if everything else _rules_above(root, start)
    ahead = [iter(_entries(root, start, rules))]
    lists = [rules]
    count = 0
    while ahead:
        entry = next(ahead[-1], None)
        if entry is None:
            ahead.pop()
            lists.pop()
            continue
        if count == most:
            return
        count += 1
        yield entry
        if entry.is_folder:
            folder = root / entry.path
            inner = lists[-1] if everything else [*lists[-1], *_rules(folder, entry.path + "/")]
            lists.append(inner)
            ahead.append(iter(_entries(root, folder, inner)))


def listed(root: Path, start: Path, *, everything: bool = False) -> list[Entry]:
    """What lies directly in `start`, sorted."""
    return _entries(root, start, [] if everything else _rules_above(root, start))


def _entries(root: Path, folder: Path, rules: Sequence[_Rule]) -> list[Entry]:
    above = "" if folder == root else folder.relative_to(root).as_posix() + "/"
    try:
        found = list(os.scandir(folder))
    except OSError:  # it may have gone, or may not be read
        return []
    entries = (
        Entry(above + each.name, each.name, each.is_dir(follow_symlinks=False), each.is_symlink()) for each in found
    )
    kept = (entry for entry in entries if entry.name != _NEVER and not _left_out(entry, rules))
    return sorted(kept, key=lambda entry: entry.name)


def _left_out(entry: Entry, rules: Sequence[_Rule]) -> bool:
    """As git has it: the last line that fits decides."""
    for rule in reversed(rules):
        if (entry.is_folder or not rule.only_folders) and rule.pattern.fits(entry.path[rule.below :]):
            return not rule.keeps
    return False


def _rules_above(root: Path, start: Path) -> list[_Rule]:
    folders = [start, *(folder for folder in start.parents if folder.is_relative_to(root))]
    rules: list[_Rule] = []
    for folder in reversed(folders):
        rules += _rules(folder, "" if folder == root else folder.relative_to(root).as_posix() + "/")
    return rules


def _rules(folder: Path, prefix: str) -> list[_Rule]:
    try:
        with open(folder / ".gitignore", "rb", opener=plainly) as file:
            text = file.read(_IGNORE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return []
    return [rule for line in text.split("\n") if (rule := _rule(line, len(prefix))) is not None]


def _rule(line: str, below: int) -> _Rule | None:
    text = re.sub(r"(?<!\\) +$", "", line.removesuffix("\r"))
    if text.startswith("#"):
        return None
    keeps = text.startswith("!")
    text = re.sub(r"\\([#! ])", r"\1", text[1:] if keeps else text)
    return _Rule(below, glob(text), text.endswith("/"), keeps) if text.strip("/") else None


def plainly(path: str, flags: int) -> int:
    """An opener that follows no link, which may lead out of the workspace, and waits for nobody to write to a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
