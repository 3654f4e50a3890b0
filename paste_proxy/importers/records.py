"""The JSON in log files: objects line by line, or one document a file.

A writer that was killed leaves a torn last line; that is counted, and no fault. Anything else that is no
JSON stops the import at that line, or is counted if the user said so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, dumps, loads
from paste_proxy.importers.files import numbered_lines

GOES_ON = (b"[", b"{", b",")
"""How the first line of a document of several lines ends."""


@dataclass(slots=True)
class Corrupt:
    """What could not be read so far, and who hears of each file before it is read."""

    skip: bool = False
    """Leave corrupt lines out instead of stopping."""
    bad: int = 0
    """Lines, or files that are one document, left out."""
    torn: int = 0
    """Files whose last line was cut by the end of their writer."""
    on_file: Callable[[Path], None] = lambda _: None

    def found(self, where: str, reason: str, expected: str) -> None:
        """Count something corrupt.

        Raises:
            InputFault: it is not to be left out.
        """
        if not self.skip:
            raise InputFault(where, reason, expected)
        self.bad += 1


def records(path: Path, corrupt: Corrupt) -> Iterator[tuple[int, dict[str, Json]]]:
    """The JSON objects of a file of JSON lines, with their line numbers.

    Raises:
        InputFault: naming file and line, for a line that is no JSON object, or an unreadable file.
    """
    corrupt.on_file(path)
    for number, line in numbered_lines(path):
        try:
            value = loads(line)
            if not isinstance(value, dict):
                raise ValueError(f"a JSON {type(value).__name__} instead of an object")
        except ValueError as fault:
            if line.endswith(b"\n"):
                corrupt.found(f"{path}:{number}", str(fault), "a JSON object on each line")
            else:
                corrupt.torn += 1
            continue
        yield number, value


def document(path: Path, corrupt: Corrupt) -> Json:
    """The JSON document that a file is, None if it is corrupt and left out.

    Raises:
        InputFault: it is no JSON, or cannot be read.
    """
    corrupt.on_file(path)
    text = b"".join(line for _, line in numbered_lines(path))
    try:
        return loads(text)
    except ValueError as fault:
        corrupt.found(str(path), str(fault), "a JSON document")
        return None


def digest(value: Json) -> str:
    """A name made of a value's content: 12 hexadecimal digits."""
    try:
        return blake2b(dumps(value), digest_size=6).hexdigest()
    except ValueError:  # too deep to be written: such a value does not become a session's events either
        return "0" * 12
