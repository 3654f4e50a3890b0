"""What a run leaves in the folders that stand in for the user's: brought back at its end, or after it was killed.

The folder of a run holds a lock that its wrapper, its client and its sidecar share. Whoever can take it knows that
all of them are gone, whichever way, and brings back and removes what is left.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paste_proxy.agents.wrap.home import Mirror, bring_back
from paste_proxy.agents.wrap.settings_back import Rewritten, bring_settings_back

_PREFIX, _KEPT = "paste-wrap-", "paste-kept-"
_LOCK, _LISTED = "lock", "stand_ins.json"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A private folder for one run."""

    path: Path
    lock: int
    """A file descriptor; the folder is somebody's as long as any process holds it open."""

    def listed(self, mirrors: tuple[Mirror, ...], rewritten: tuple[Rewritten, ...]) -> None:
        """Note what stands in for what, for whoever comes after a wrapper that was killed."""
        tree = {"mirrors": [_plain(one) for one in mirrors], "rewritten": [_plain(one) for one in rewritten]}
        path = self.path / _LISTED
        path.touch(mode=0o600)
        path.write_text(json.dumps(tree), "utf-8")


@contextmanager
def run_folder() -> Iterator[RunFolder]:
    """A folder, gone at the end."""
    path = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        waiting = path / f"{_LOCK}.new"
        lock = os.open(waiting, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting.rename(path / _LOCK)  # under its name it is held from the first moment on
        try:
            yield RunFolder(path, lock)
        finally:
            os.close(lock)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def back(mirrors: tuple[Mirror, ...], rewritten: tuple[Rewritten, ...]) -> Iterator[str]:
    """Bring the client's files back; what cannot be is kept elsewhere, and a note says where."""
    for one in rewritten:
        if left := bring_settings_back(one):
            kept = Path(tempfile.mkdtemp(prefix=_KEPT)) / one.place.name
            shutil.copyfile(one.place, kept)
            yield (
                f"what the client changed in {one.source} could not all be taken over ({', '.join(left)}); the file as "
                f"the client left it, turned to the sidecar, is {kept}"
            )
    for mirrored in mirrors:
        if stuck := bring_back(mirrored):
            kept = Path(tempfile.mkdtemp(prefix=_KEPT))
            for path in stuck:
                path.rename(kept / path.name)
            yield f"what the client wrote could not all be moved to {mirrored.source}; the rest is in {kept}"


def reclaim_all() -> tuple[str, ...]:
    """Bring back what runs of this user have left that were killed, and remove it; notes on what could not be."""
    notes: list[str] = []
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            notes += reclaim(folder)
    return tuple(notes)


def reclaim(folder: Path) -> list[str]:
    """The same for one folder; nothing where its run still goes on, or it is somebody else's."""
    notes: list[str] = []
    with suppress(OSError, ValueError, KeyError, TypeError):
        if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
            return notes
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (folder / _LISTED).exists():
                notes += back(*_read(folder / _LISTED))
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
    return notes


def _plain(one: Mirror | Rewritten) -> dict[str, Any]:
    tree = asdict(one)
    tree |= {key: str(value) for key, value in tree.items() if isinstance(value, Path)}
    return tree | {key: sorted(value) for key, value in tree.items() if isinstance(value, frozenset)}


def _read(path: Path) -> tuple[tuple[Mirror, ...], tuple[Rewritten, ...]]:
    tree = json.loads(path.read_text("utf-8"))
    mirrors = (
        Mirror(source=Path(one["source"]), place=Path(one["place"]), own=frozenset(one["own"]))
        for one in tree["mirrors"]
    )
    rewritten = (
        Rewritten(
            source=Path(one["source"]),
            place=Path(one["place"]),
            original=one["original"],
            written=one["written"],
            free=tuple(tuple(path) for path in one["free"]),
        )
        for one in tree["rewritten"]
    )
    return tuple(mirrors), tuple(rewritten)
