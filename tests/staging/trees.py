"""Trees of files to run things in: made from a seed, and told in full."""

import hashlib
import os
import random
import stat
from contextlib import suppress
from pathlib import Path

OLD_NS = 1_600_000_000 * 10**9
"""Times before this test was thought of; later ones are of now."""
RECENT_NS = 1_700_000_000 * 10**9
NAMES = ("a", "b", "ä \n", os.fsdecode(b"-\xff"), ".h")
FOLDERS = ("", "one", "one/two", "one/two/three", "empty", "locked")
MODES = (0o644, 0o644, 0o600, 0o755, 0o444, 0o4755)


def plant(root: Path, seed: int, *, linked: bool = False) -> None:
    """Files of all kinds, alike for the same seed.

    Args:
        linked: some files have a second name.
    """
    chance = random.Random(seed)
    root.mkdir()
    files: list[Path] = []
    for folder in FOLDERS:
        place = root / folder
        place.mkdir(parents=True, exist_ok=True)
        for name in chance.sample(NAMES, chance.randrange(2, 5)) if folder != "empty" else ():
            path = place / name
            if path.exists():
                continue
            kind = chance.random()
            if kind < 0.1:
                path.symlink_to(chance.choice(("a", "../b", "nowhere", "/nowhere/else")))
            elif kind < 0.13:
                os.mkfifo(path)
            else:
                path.write_bytes(chance.randbytes(chance.choice((0, 10, 5000, 100_000))))
                if chance.random() < 0.1:
                    os.setxattr(path, "user.note", b"first")
                path.chmod(chance.choice(MODES))
                files.append(path)
    if linked and files:
        for number, path in enumerate(chance.sample(files, min(3, len(files)))):
            os.link(path, root / f"second-{number}")
    _grow_old(root)
    (root / "locked").chmod(0o555)


def _grow_old(root: Path) -> None:
    for number, (folder, _, names) in enumerate(os.walk(root, topdown=False)):
        for name in (*names, ""):
            moment = OLD_NS + number * 10**9 + 123_456_789
            os.utime(Path(folder, name), ns=(moment, moment), follow_symlinks=False)


def told(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything of a tree that a program could depend on, but when recent changes were made."""
    names: dict[int, list[str]] = {}
    walk = (Path(folder, name) for folder, folders, files in os.walk(root) for name in (*folders, *files))
    paths = [".", *sorted(str(path.relative_to(root)) for path in walk)]
    for path in paths:
        with suppress(PermissionError):
            names.setdefault(os.lstat(root / path).st_ino, []).append(path)
    return {path: _told(root / path, names) for path in paths}


def _told(path: Path, names: dict[int, list[str]]) -> tuple[object, ...]:
    try:
        return _told_in_full(path, names)
    except PermissionError as fault:
        return ("closed", fault.strerror)


def _told_in_full(path: Path, names: dict[int, list[str]]) -> tuple[object, ...]:
    found = os.lstat(path)
    content: object = ""
    if stat.S_ISREG(found.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest(), found.st_size
    elif stat.S_ISLNK(found.st_mode):
        content = str(path.readlink())
    attributes = {
        name: os.getxattr(path, name, follow_symlinks=False) for name in os.listxattr(path, follow_symlinks=False)
    }
    others = tuple(names[found.st_ino]) if not stat.S_ISDIR(found.st_mode) else ()
    kept = found.st_mtime_ns if found.st_mtime_ns < RECENT_NS else "recent"
    return (
        oct(found.st_mode),
        found.st_uid,
        found.st_gid,
        found.st_nlink,
        others,
        content,
        attributes,
        kept,
    )
