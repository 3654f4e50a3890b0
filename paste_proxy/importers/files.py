"""Trace files as numbered lines: plain or gzip'd JSON lines, single files or folders of them."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from paste_proxy.errors import InputFault

_ENDINGS = (".jsonl", ".jsonl.gz")
_GZIP = b"\x1f\x8b"
_TOLD_EVERY = 256
"""Lines."""


def trace_files(paths: Iterable[Path]) -> list[Path]:
    """The files meant: each path itself, or the traces anywhere below a folder in name order; none twice.

    Raises:
        InputFault: a path does not exist, or a folder holds no trace.
    """
    files: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            found = sorted(file for file in path.rglob("*") if file.name.endswith(_ENDINGS) and file.is_file())
            if not found:
                raise InputFault(str(path), "a folder without traces", f"files ending in {' or '.join(_ENDINGS)}")
        elif path.exists():
            found = [path]
        else:
            raise InputFault(
                str(path),
                "no such file",
                f"event lines: a file, or a folder of files ending in {' or '.join(_ENDINGS)}",
            )
        for file in found:
            files.setdefault(file.resolve(), file)
    return list(files.values())


def numbered_lines(path: Path, on_bytes: Callable[[int], None] = lambda _: None) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, numbered from 1, with their line ends.

    `on_bytes` is told now and then of how many more bytes of the file have been read, as it is stored.

    Raises:
        InputFault: the file cannot be read or its compression is broken.
    """
    number = told = 0
    try:
        with path.open("rb") as raw:
            packed = raw.peek(2)[:2] == _GZIP
            stream = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
            for number, line in enumerate(stream, 1):
                if number % _TOLD_EVERY == 0:
                    told, before = raw.tell(), told
                    on_bytes(told - before)
                if line.strip():
                    yield number, line
            on_bytes(raw.tell() - told)
    except EOFError as fault:
        raise InputFault(f"{path}:{number + 1}", "the compressed file is cut here", "a whole gzip file") from fault
    except (OSError, zlib.error) as fault:
        raise InputFault(f"{path}:{number + 1}", f"cannot be read ({fault})", "a readable trace") from fault
