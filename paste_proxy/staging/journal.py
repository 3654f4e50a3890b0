"""The redo log of a commit: from the moment it is there, the commit goes forward only.

A stage's folder holds `journal.part`, then `journal`, which is the same file under the name that counts, and
`progress`, of one byte an operation done. All are whole whenever the process ends, however it ends: what was written
is with the kernel. Not after a power cut, which a command run as usual does not survive whole either.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from paste_proxy.staging import operations
from paste_proxy.staging.doing import do
from paste_proxy.staging.operations import Operation

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        operations.Remove,
        operations.Move,
        operations.Mkdir,
        operations.Place,
        operations.Write,
        operations.Link,
        operations.Unmark,
        operations.Mode,
        operations.Meta,
        operations.Times,
    )
}
_PART, _JOURNAL, _PROGRESS = "journal.part", "journal", "progress"


def prepare(folder: Path, planned: Iterable[Operation]) -> None:
    """Write down what would be done. Nothing is decided by it.

    Raises:
        OSError: of writing.
    """
    lines = json.dumps([[type(operation).__name__, *operation] for operation in planned]).encode()
    _write(folder / _PROGRESS, b"")
    _write(folder / _PART, _digest(lines) + b"\n" + lines)


def decide(folder: Path) -> None:
    """The commit point. Before it nothing has happened, after it everything will.

    Raises:
        OSError: nothing was decided.
    """
    (folder / _PART).rename(folder / _JOURNAL)


def decided(folder: Path) -> list[Operation] | None:
    """What has to be done; None: nothing was decided, or what was is torn.

    Raises:
        OSError: of reading.
    """
    try:
        digest, _, lines = (folder / _JOURNAL).read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if digest != _digest(lines):
        return None
    return [_KINDS[kind](*fields) for kind, *fields in json.loads(lines)]


def carry_out(folder: Path, planned: Sequence[Operation]) -> int:
    """Do what is not done yet. The number of operations that were left because somebody else was there since.

    Raises:
        OSError: one cannot be done; those before it are, and it can be tried again.
    """
    opened = os.open(folder / _PROGRESS, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        done, left = os.fstat(opened).st_size, 0
        for number in range(done, len(planned)):
            left += not do(planned[number], again=number == done)
            os.write(opened, b".")
        return left
    finally:
        os.close(opened)


def _digest(lines: bytes) -> bytes:
    return hashlib.blake2b(lines, digest_size=16).hexdigest().encode()


def _write(path: Path, content: bytes) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(opened, "wb") as file:
        file.write(content)
