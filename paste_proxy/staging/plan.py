"""A commit as it is put together: operations in the order they need, and what has to be as it was for them.

First all directories involved are opened to their owner. Then those that moved are taken out, the deepest first, so
that every other operation finds names free. Then come things from the top down, further names of files, and at last
modes and times, a directory's after those of all that is in it.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from paste_proxy.staging.operations import Link, Meta, Mkdir, Mode, Move, Operation, Place, Remove, Times, Unmark, Write
from paste_proxy.staging.types import Refused

_BLOCK_BYTES = 512
_SPARE_BYTES = 64 * 2**20
"""Left on a disk beyond what a commit needs of it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Where a staged command may change what."""

    workspace: str
    outside: tuple[str, ...]
    """Directories where changes are committed, too, such as a user's caches."""
    base: str
    """Where stages lie: nothing in there, and nothing around it as a whole."""

    def inside(self, path: str) -> bool:
        """Whether it is the workspace or in there."""
        return within(path, self.workspace)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a commit does, and what it stands on."""

    operations: tuple[Operation, ...]
    changes_workspace: bool
    files: frozenset[str]
    """Outside of the workspace: these have to be as they were."""
    trees: frozenset[str]
    """Outside of the workspace: these, too, with all that is in them."""
    made: frozenset[str]
    """Outside of the workspace: nothing may be there."""
    written: frozenset[str]
    """Files that are written into, where they are now."""


class Found(NamedTuple):
    """A file or directory of the real tree."""

    path: str
    stat: os.stat_result

    @property
    def is_directory(self) -> bool:
        """And no link to one."""
        return stat.S_ISDIR(self.stat.st_mode)

    @property
    def is_file(self) -> bool:
        """A regular one."""
        return stat.S_ISREG(self.stat.st_mode)


def found_at(path: str | None) -> Found | None:
    """What is there; None: nothing.

    Raises:
        OSError: it cannot be looked at.
    """
    try:
        return Found(path, os.lstat(path)) if path is not None else None
    except (FileNotFoundError, NotADirectoryError):
        return None


def within(path: str, root: str) -> bool:
    """Whether `path` is `root` or in there."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"


@dataclass(slots=True)
class Draft:
    """A plan that is being made. `folder` is the stage's own.

    Its methods raise `Refused` for what is not permitted where it would be done.
    """

    rules: Rules
    folder: str
    _openings: list[tuple[Mode, str]] = field(default_factory=list)
    """With the directory of the real tree for which it is done, if names come to it or go."""
    _moves: list[Move] = field(default_factory=list)
    _changes: list[Operation] = field(default_factory=list)
    _links: list[Operation] = field(default_factory=list)
    _settings: list[Operation] = field(default_factory=list)
    _closings: list[tuple[Operation, bool]] = field(default_factory=list)
    """Of directories; whether it is done even if no names came or went."""
    _stirred: set[str] = field(default_factory=set)
    _files: set[str] = field(default_factory=set)
    _trees: set[str] = field(default_factory=set)
    _made: set[str] = field(default_factory=set)
    _written: set[str] = field(default_factory=set)
    _needs: dict[int, tuple[str, int]] = field(default_factory=dict)
    _changes_workspace: bool = False

    def open(self, path: str, mode: int, target: str) -> bool:
        """A directory of an upper or of the real tree, where it is now, has to be open to its owner if names come to
        `target` or go. Whether it is not, and needs to be described afterwards."""
        if mode & stat.S_IRWXU == stat.S_IRWXU:
            return False
        self._openings.append((Mode(path, stat.S_IMODE(mode) | stat.S_IRWXU), target))
        if not mode & stat.S_IXUSR:  # nothing below can be reached either
            self._stirred.add(target)
        return True

    def open_to_move(self, source: str, mode: int, target: str) -> bool:
        """The same for a directory of an upper that comes to `target` as a whole."""
        if opened := self.open(source, mode, target):
            self._stirred.add(target)
        return opened

    def remove(self, target: str, found: Found) -> None:
        """Take away what is `found` there now."""
        self._aim(target, whole=True)
        self._stand_on(found)
        ctime_ns = 0 if found.is_directory else found.stat.st_ctime_ns
        self._changes.append(Remove(target, found.stat.st_ino, ctime_ns, self._aside()))

    def move(self, target: str, found: Found) -> None:
        """Bring a directory that is `found` elsewhere now."""
        self._aim(found.path, whole=True)
        self._aim(target, whole=True)
        self._stand_on(found)
        held = f"{self.folder}/held-{len(self._moves)}"
        self._moves.append(Move(found.path, held, found.stat.st_ino))
        self._changes.append(Move(held, target, found.stat.st_ino))

    def mkdir(self, target: str) -> None:
        """Make a directory, with a description to follow."""
        self._aim(target)
        self._changes.append(Mkdir(target))

    def place(self, source: str, target: str, over: Found | None) -> None:
        """Bring something out of an upper, instead of a file that is there."""
        self._aim(target)
        if over is not None:
            self._stand_on(over)
        inode, ctime_ns = (over.stat.st_ino, over.stat.st_ctime_ns) if over else (0, 0)
        via = f"{_folder(target)}/.{self.folder.rpartition('/')[2]}-{len(self._changes)}"
        self._changes.append(Place(source, target, inode, ctime_ns, via, self._aside()))

    def write(self, source: str, target: str, found: Found) -> None:
        """Write into the file that is `found` there now."""
        self._aim(target, names=False)
        self._stand_on(found)
        self._written.add(found.path)
        self._changes.append(Write(source, target, found.stat.st_ino, found.stat.st_ctime_ns))

    def link(self, source: str, target: str, spare: str) -> None:
        """Give what will be at `source` another name."""
        self._aim(target)
        self._links.append(Link(source, target, spare))

    def unmark(self, source: str, names: tuple[str, ...], mode: int) -> None:
        """Take marks off something in an upper."""
        if names:
            self._changes.append(Unmark(source, names, stat.S_IMODE(mode)))

    def describe(
        self, target: str, like: os.stat_result, attributes: dict[str, str], *, if_stirred: bool = False
    ) -> None:
        """Mode, owner and attributes, once everything else is done; of a directory perhaps only if names come to it or
        go."""
        if not if_stirred:
            self._aim(target, names=False)
        meta = Meta(target, stat.S_IMODE(like.st_mode), like.st_uid, like.st_gid, attributes)
        self._at_last(meta, like, anyway=not if_stirred)

    def time(self, target: str, like: os.stat_result, *, if_stirred: bool = False) -> None:
        """Times, once everything else is done; of a directory perhaps only if names come to it or go."""
        if not if_stirred:
            self._aim(target, names=False)
        self._at_last(Times(target, like.st_atime_ns, like.st_mtime_ns), like, anyway=not if_stirred)

    def expect_nothing(self, target: str) -> None:
        """Nothing is there."""
        if not self.rules.inside(target):
            self._made.add(target)

    def needs(self, place: str, blocks: int) -> None:
        """The file system of a place will have to take so many more blocks of 512 bytes."""
        device = Path(place).stat().st_dev
        self._needs[device] = place, self._needs.get(device, (place, 0))[1] + max(0, blocks) * _BLOCK_BYTES

    def done(self) -> Plan:
        """The plan.

        Raises:
            Refused: there is not the room for it.
        """
        for place, needed in self._needs.values():
            room = os.statvfs(place)
            if needed and needed + _SPARE_BYTES > room.f_bavail * room.f_frsize:
                raise Refused(f"the disk of {place} is too full")
        moves = sorted(self._moves, key=lambda move: -move.source.count("/"))
        openings = [opening for opening, target in self._openings if target in self._stirred]
        closings = [operation for operation, anyway in self._closings if anyway or operation.target in self._stirred]
        operations = (*openings, *moves, *self._changes, *self._links, *self._settings, *closings)
        sets = map(frozenset, (self._files, self._trees, self._made, self._written))
        return Plan(operations, self._changes_workspace, *sets)

    def _aim(self, target: str, *, whole: bool = False, names: bool = True) -> None:
        rules = self.rules
        if rules.inside(target):
            self._changes_workspace = True
        elif not any(within(target, place) for place in rules.outside):
            raise Refused(f"it changed {target}")
        if within(target, rules.base) or (whole and within(rules.base, target)):
            raise Refused(f"it changed {target}, where stages lie")
        if names:
            self._stirred.add(_folder(target))

    def _stand_on(self, found: Found) -> None:
        if not self.rules.inside(found.path):
            (self._trees if found.is_directory else self._files).add(found.path)

    def _aside(self) -> str:
        return f"{self.folder}/aside-{len(self._changes)}"

    def _at_last(self, operation: Operation, like: os.stat_result, *, anyway: bool = True) -> None:
        if stat.S_ISDIR(like.st_mode):
            self._closings.append((operation, anyway))
        else:
            self._settings.append(operation)
