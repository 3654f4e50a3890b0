"""What a staged command did, read from the upper directories of its view.

In an upper lies whatever differs: a character device 0:0 for what is gone, a directory that is merged with the one
below it, that replaces it (opaque) or was moved from elsewhere (redirect), a file that is new or (origin) an old one
with changes. After the kernel's Documentation/filesystems/overlayfs.rst. Refused is what the view cannot have shown
as it is, such as one of several names of a file changed alone, and what is done where it is not permitted.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from paste_proxy.staging.copying import attributes, same
from paste_proxy.staging.filesystems import mount_of
from paste_proxy.staging.marks import Marks, marks_of, prefix_of
from paste_proxy.staging.plan import Draft, Found, Plan, Rules, found_at
from paste_proxy.staging.types import Overlay, Refused, Tier

_PLACED = frozenset({stat.S_IFLNK, stat.S_IFIFO, stat.S_IFSOCK})
"""What has no content that could be changed, and is always brought as a new one."""


class Seen(NamedTuple):
    """What a directory looks like."""

    stat: os.stat_result
    attributes: dict[str, str]


def seen_first(overlays: Iterable[Overlay], tier: Tier) -> dict[str, Seen]:
    """What the command sees of each upper directory itself. It need not be quite what it covers: others' directories
    cannot be made by everybody.

    Raises:
        OSError: of reading.
    """
    uppers = [overlay.upper for overlay in overlays]
    return {upper: Seen(os.lstat(upper), attributes(upper, prefix_of(tier))) for upper in uppers}


def effects(overlays: Iterable[Overlay], first: Mapping[str, Seen], tier: Tier, rules: Rules, folder: str) -> Plan:
    """What has to be done so that the real tree is as the command saw it in the end. Changes nothing.

    Args:
        first: as of `seen_first`, before the command was started.
        folder: the stage's own, where moved directories are held meanwhile.

    Raises:
        Refused: it cannot be done, or must not.
    """
    draft = Draft(rules, folder)
    try:
        for overlay in overlays:
            _Upper(overlay, prefix_of(tier), draft).read(first[overlay.upper])
        return draft.done()
    except OSError as fault:
        raise Refused(f"what it did cannot be read: {fault}") from fault
    except RecursionError as fault:
        raise Refused("what it did lies too deep") from fault


class _New(NamedTuple):
    """A regular file of an upper."""

    source: str
    target: str
    stat: os.stat_result
    marks: Marks
    found: Found | None
    """What is in its place in the real tree."""

    @property
    def is_changed(self) -> bool:
        """It is the file that was there, with changes."""
        return self.found is not None and self.found.is_file and self.marks.origin


@dataclass(slots=True)
class _Upper:
    """One overlay's. Each step takes where a thing lies in the upper (`source`), where it belongs (`target`), and what
    is there, or will have been moved there, in the real tree as it is now (`found`)."""

    overlay: Overlay
    prefix: str
    draft: Draft
    names: dict[int, list[_New]] = field(default_factory=dict)
    """Of files with several names, by inode."""
    same_mount: bool = False

    def read(self, first: Seen) -> None:
        upper, path = self.overlay.upper, self.overlay.path
        self.same_mount = mount_of(upper) == mount_of(path)
        marks_of(upper, self.prefix, root=True)
        self._merged(upper, path.rstrip("/"), os.lstat(upper), Found(path, first.stat), first.attributes)
        for names in self.names.values():
            self._linked(names)

    def _entries(self, source: str, target: str, below: str | None) -> None:
        with os.scandir(source) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        for entry in entries:
            found = found_at(f"{below}/{entry.name}" if below is not None else None)
            self._entry(entry, f"{target}/{entry.name}", found, below)

    def _entry(self, entry: os.DirEntry[str], target: str, found: Found | None, below: str | None) -> None:
        now = entry.stat(follow_symlinks=False)
        if _is_whiteout(now):
            self._gone(target, found)
            return
        marks, kind = marks_of(entry.path, self.prefix), stat.S_IFMT(now.st_mode)
        if kind == stat.S_IFDIR:
            self._directory(entry.path, target, now, marks, found, below)
        elif kind == stat.S_IFREG:
            self._file(_New(entry.path, target, now, marks, found))
        elif kind in _PLACED:
            self._place(entry.path, target, now, marks, found)
        else:
            raise Refused(f"it made a device, {target}")

    def _gone(self, target: str, found: Found | None) -> None:
        if found is None:
            raise Refused(f"{target} has gone")
        self._clear(target, found)

    def _clear(self, target: str, found: Found | None) -> None:
        if found is None:
            self.draft.expect_nothing(target)
        else:
            _refuse_several_names(found)
            self.draft.remove(target, found)

    def _directory(
        self, source: str, target: str, now: os.stat_result, marks: Marks, found: Found | None, below: str | None
    ) -> None:
        if marks.redirect is not None:
            self._moved(source, target, now, self._moved_from(marks.redirect, below), found)
        elif found is not None and found.is_directory and not marks.opaque:
            self._merged(source, target, now, found)
        elif marks.origin and not marks.opaque:
            raise Refused(f"{target} has gone")
        else:
            self._clear(target, found)
            self._fresh(source, target, now, marks)

    def _moved_from(self, redirect: str, below: str | None) -> Found:
        path = self.overlay.path.rstrip("/") + redirect if redirect.startswith("/") else f"{below}/{redirect}"
        found = found_at(path)
        if found is None or not found.is_directory:
            raise Refused(f"{path} has gone")
        return found

    def _moved(self, source: str, target: str, now: os.stat_result, moved: Found, found: Found | None) -> None:
        if not self.same_mount:
            raise Refused(f"it moved the directory {moved.path}, and stages lie on another file system")
        self._clear(target, found)
        self.draft.move(target, moved)
        self._merged(source, target, now, moved)

    def _merged(
        self, source: str, target: str, now: os.stat_result, found: Found, before: dict[str, str] | None = None
    ) -> None:
        """A directory that is there: only what differs in it, and of its attributes from those `before`."""
        draft = self.draft
        draft.open(source, now.st_mode, target)
        opened = draft.open(found.path, found.stat.st_mode, target)
        self._entries(source, target, found.path.rstrip("/"))
        self._describe(source, target, now, found, before, if_stirred=opened)
        # outside, others' directories go on meanwhile; their times are what our own changes make of them
        if draft.rules.inside(target):
            draft.time(target, now, if_stirred=now.st_mtime_ns == found.stat.st_mtime_ns)

    def _fresh(self, source: str, target: str, now: os.stat_result, marks: Marks) -> None:
        """A directory that replaces whatever was there: as a whole, if nothing in it needs more."""
        draft = self.draft
        opened = draft.open_to_move(source, now.st_mode, target)
        marked = self._marked(source, now, marks)
        if marked is None:
            draft.mkdir(target)
            self._entries(source, target, None)
        else:
            for path, names, mode in marked:
                draft.unmark(path, names, mode)
            draft.place(source, target, None)
        if marked is None or opened:
            draft.describe(target, now, attributes(source, self.prefix))
        draft.time(target, now)

    def _marked(self, source: str, now: os.stat_result, marks: Marks) -> list[tuple[str, tuple[str, ...], int]] | None:
        """All marks in a tree of the upper; None: there is something old in it, or a file with several names."""
        marked, size, folders = [(source, marks.names, now.st_mode)], 0, [source]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    marks, kind = marks_of(entry.path, self.prefix), stat.S_IFMT(found.st_mode)
                    if _is_whiteout(found) or marks.redirect or (kind == stat.S_IFREG and found.st_nlink > 1):
                        return None
                    if kind == stat.S_IFDIR:
                        folders.append(entry.path)
                    elif kind != stat.S_IFREG and kind not in _PLACED:
                        raise Refused(f"it made a device, {entry.name}")
                    if marks.names:
                        marked.append((entry.path, marks.names, found.st_mode))
                    size += found.st_blocks
        self._needs_copy(size)
        return marked

    def _file(self, new: _New) -> None:
        if new.found is not None:
            _refuse_several_names(new.found)
        if new.stat.st_nlink > 1:
            self.names.setdefault(new.stat.st_ino, []).append(new)
        else:
            self._one_file(new)

    def _one_file(self, new: _New) -> None:
        source, target, now, _, found = new
        if not new.is_changed:
            self._place(source, target, now, new.marks, found)
            return
        assert found is not None
        before = found.stat
        written = now.st_size != before.st_size or not same(source, found.path)
        if written:
            _need_readable(source)
            self.draft.needs(found.path, now.st_blocks - before.st_blocks)
            self.draft.write(source, target, found)
        self._describe(source, target, now, found, anyway=written)
        if written or (now.st_atime_ns, now.st_mtime_ns) != (before.st_atime_ns, before.st_mtime_ns):
            self.draft.time(target, now)

    def _place(self, source: str, target: str, now: os.stat_result, marks: Marks, found: Found | None) -> None:
        if found is None or found.is_directory:
            self._clear(target, found)
        else:
            _refuse_several_names(found)
        self._needs_copy(now.st_blocks)
        self.draft.unmark(source, marks.names, now.st_mode)
        self.draft.place(source, target, None if found is None or found.is_directory else found)

    def _linked(self, names: list[_New]) -> None:
        """One file with several names."""
        first, *others = sorted(names, key=lambda new: not new.is_changed)
        if first.stat.st_nlink != len(names):
            raise Refused(f"{first.target} has a name that is not to be seen")
        self._one_file(first)
        for new in others:
            self._clear(new.target, new.found)
            self.draft.link(first.target, new.target, new.source)

    def _describe(
        self,
        source: str,
        target: str,
        now: os.stat_result,
        found: Found,
        before: dict[str, str] | None = None,
        *,
        anyway: bool = False,
        if_stirred: bool = False,
    ) -> None:
        own, before = attributes(source, self.prefix), attributes(found.path) if before is None else before
        if any(name.startswith(self.prefix) for name in before):
            raise Refused(f"{found.path} is part of an overlay of its own")
        if anyway or own != before or _description(now) != _description(found.stat):
            self.draft.describe(target, now, own)
        elif if_stirred:
            self.draft.describe(target, now, own, if_stirred=True)

    def _needs_copy(self, blocks: int) -> None:
        if not self.same_mount:
            self.draft.needs(self.overlay.path, blocks)


def _description(of: os.stat_result) -> tuple[int, int, int]:
    return of.st_mode, of.st_uid, of.st_gid


def _is_whiteout(found: os.stat_result) -> bool:
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _refuse_several_names(found: Found) -> None:
    """In the view, a change made by one name of a file was not to be seen by the others."""
    if found.is_file and found.stat.st_nlink > 1:
        raise Refused(f"{found.path} has several names")
    if found.is_directory:
        for folder, _, files in os.walk(found.path, onerror=_raise):
            for name in files:
                inner = os.lstat(f"{folder}/{name}")
                if stat.S_ISREG(inner.st_mode) and inner.st_nlink > 1:
                    raise Refused(f"{folder}/{name} has several names")


def _raise(fault: OSError) -> None:
    raise fault


def _need_readable(source: str) -> None:
    """It is read when it is too late to refuse."""
    if not os.access(source, os.R_OK):
        raise Refused(f"{source} cannot be read")
