"""A client's folder as it stands, in another place: every entry a link, but for the files written anew.

What the client keeps there, logins and transcripts, goes through the links to where it always goes. What it
creates beside them, or puts in a link's place as those do that write a file and rename it, is brought back
when the run is over.
"""

import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """One folder of the user's and the folder that stands in for it during a run."""

    source: Path
    """The user's; it need not be there."""
    place: Path
    own: frozenset[str]
    """Entries of `place` that are ours: written anew, and gone with it."""


def mirror(source: Path, place: Path, own: Collection[str] = ()) -> Mirror:
    """Make the folder `place` and link everything in `source` into it, but for the entries named in `own`."""
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileNotFoundError, NotADirectoryError):
        for entry in sorted(source.iterdir()):
            if entry.name not in own:
                (place / entry.name).symlink_to(entry.absolute(), target_is_directory=entry.is_dir())
    return Mirror(source=source, place=place, own=frozenset(own))


def bring_back(mirrored: Mirror) -> tuple[Path, ...]:
    """Move what a run has left in a mirror to the user's folder.

    Where somebody else has written the user's file in the meantime, the later one stays.

    Returns:
        What could not be moved; it is still in the mirror.
    """
    left = []
    for entry in sorted(mirrored.place.iterdir()):
        if entry.name in mirrored.own or _links_home(entry, mirrored.source):
            continue
        try:
            mirrored.source.mkdir(parents=True, exist_ok=True, mode=0o700)
            _move(entry, mirrored.source / entry.name)
        except OSError:
            left.append(entry)
    return tuple(left)


def _links_home(entry: Path, source: Path) -> bool:
    return entry.is_symlink() and Path(os.path.normpath(entry.readlink())).parent == source.absolute()


def _move(entry: Path, target: Path) -> None:
    if entry.is_dir() and not entry.is_symlink() and target.is_dir():
        for inner in sorted(entry.iterdir()):
            _move(inner, target / inner.name)
        return
    if target.is_dir() and not entry.is_dir():
        raise IsADirectoryError(target)
    if target.exists() and target.stat().st_mtime > entry.lstat().st_mtime:
        return
    if target.is_symlink() and not entry.is_symlink():
        target = target.resolve()  # the user's own link stays; what it leads to is written
    waiting = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.move(entry, waiting)
    waiting.replace(target)
