"""A file that is complete under its name, or left as it was."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from paste_proxy.errors import InputFault

_MASK_READ = 0o022


@contextmanager
def whole_file(out: Path, *, private: bool = False, inputs: Iterable[Path] = ()) -> Iterator[IO[bytes]]:
    """Open a file for writing; it takes its name once that ends without a fault, if anything was written.

    Args:
        private: nobody else may read it.
        inputs: what it is made from.

    Raises:
        InputFault: it cannot be written, or is one of `inputs`.
    """
    refuse_input(out, inputs)
    try:
        with NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}.", suffix=".part", delete=False) as file:
            part = Path(file.name)
            try:
                yield file
                file.flush()
                if file.tell():
                    part.chmod(0o600 if private else _plain_mode())
                    part.replace(out)
            finally:
                part.unlink(missing_ok=True)
    except OSError as fault:
        raise InputFault(f"-o {out}", f"cannot be written ({fault})", "a path in a folder that exists") from fault


def refuse_input(out: Path, inputs: Iterable[Path]) -> None:
    """Raises InputFault where `out` is one of the files that are read."""
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise InputFault(f"-o {out}", "is one of the files that are read", "another file to write")


def _plain_mode() -> int:
    """The mode of a file that `open` makes."""
    mask = os.umask(_MASK_READ)
    os.umask(mask)
    return 0o666 & ~mask
