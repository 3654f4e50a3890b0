"""Files that several sidecars of a user share: private, whole whenever they are read, written by one at a time.

A folder is locked while a file in it is read back and written; the kernel lets go of that when a process ends, however
it ends. A file takes its name once it is whole.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

if sys.platform != "win32":
    import fcntl

_PATIENCE_S, _PAUSE_S = 5.0, 0.02


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other sidecars out of a folder. On disks that know no locks nobody is kept out.

    Raises:
        OSError: there is no such folder, or another holds it for longer than writing takes.
    """
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def write_whole(path: Path, text: str) -> None:
    """Put a text in the place of a file, or leave that as it is.

    Raises:
        OSError: the disk does not take it.
    """
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False) as file:
        part = Path(file.name)
        try:
            file.write(text.encode())
            file.flush()
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _lock(handle: int) -> None:
    """Raises BlockingIOError where another holds it for longer than writing takes."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
        except OSError:
            return None
        time.sleep(_PAUSE_S)
