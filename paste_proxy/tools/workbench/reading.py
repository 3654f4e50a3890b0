"""`read`: lines of a text file, with their numbers.

Whoever asks for so many lines gets just those, without a word more: they are then the same lines of a whole read.
"""

from pathlib import Path

from pydantic import BaseModel, Field

from paste_proxy.tools.workbench.texts import read_text, what_binary
from paste_proxy.tools.workbench.workspace import Unable, Workspace

LINES = 2_000
_LINE = 2_000
_ALL = 100_000
_BYTES = 64 * 2**20


class Read(BaseModel):
    """Read a text file. Each line comes with its number, six wide, and a tab before it. Long files and very long lines
    are cut, and a last line in brackets then says how to go on."""

    path: str = Field(description="The file, relative to the workspace.")
    offset: int = Field(1, ge=0, description="Number of the first line wanted, from 1.")
    limit: int | None = Field(None, ge=1, description=f"How many lines; without it at most {LINES}.")


def read(workspace: Workspace, asked: Read) -> str:
    """The lines.

    Raises:
        Unable: there are none to show.
    """
    lines = read_text(_bytes(workspace, asked.path)).text.split("\n")
    if not lines[-1]:
        lines.pop()
    start = max(asked.offset, 1)
    if not lines:
        return "[the file is empty]"
    if start > len(lines):
        raise Unable(f"{asked.path} has {len(lines)} lines; ask for an offset up to that")
    shown, size = list[str](), 0
    for number, line in enumerate(lines[start - 1 : start - 1 + (asked.limit or LINES)], start):
        shown.append(f"{number:>6}\t{_cut(line)}")
        size += len(shown[-1]) + 1
        if size > _ALL and number < len(lines) and len(shown) != asked.limit:
            break
    end = start + len(shown) - 1
    if end < len(lines) and len(shown) != asked.limit:
        shown.append(f"[lines {start} to {end} of {len(lines)}; to go on, read with offset {end + 1}]")
    return "\n".join(shown)


def _bytes(workspace: Workspace, path: str) -> bytes:
    place = workspace.file(path)
    size = place.stat().st_size
    if size > _BYTES:
        raise Unable(f"{path} has {size} bytes, too many to read; search it with grep" + _head(place))
    data = place.read_bytes()
    if kind := what_binary(data):
        raise Unable(f"{path} is {kind} of {len(data)} bytes, not text; it cannot be shown here")
    return data


def _head(place: Path) -> str:
    with place.open("rb") as file:
        kind = what_binary(file.read(8_192))
    return f" (it is {kind})" if kind else ""


def _cut(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[:_LINE]} [{len(line) - _LINE} more characters]"
