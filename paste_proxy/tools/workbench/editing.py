"""`edit` and `write`: change a file.

A file is replaced as a whole, with its mode and owner, so that nobody ever sees half of it; one that has several names
is written in place, since it would lose the others.
"""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock

from pydantic import BaseModel, Field

from paste_proxy.tools.workbench.texts import Text, read_text, what_binary
from paste_proxy.tools.workbench.workspace import Unable, Workspace

_NAMED = 5
_NUMBERED = re.compile(r" *\d+\t")


class Edit(BaseModel):
    """Replace a text in a file. The old text must be exactly as it is in the file, white space included, without the
    line numbers that read shows, and must be there once, unless replace_all is true. Encoding and line ends stay."""

    path: str = Field(description="The file, relative to the workspace.")
    old_text: str = Field(min_length=1, description="The text to replace, with enough around it to be there once.")
    new_text: str = Field(description="What comes in its place; empty to take it out.")
    replace_all: bool = Field(False, description="Replace it wherever it is.")


class Write(BaseModel):
    """Write a whole text file, UTF-8: a new one, with the folders that it needs, or in place of the one that is there.
    To change a part of a file, use edit."""

    path: str = Field(description="The file, relative to the workspace.")
    content: str = Field(description="All that is to be in it.")


_CHANGING = Lock()
"""To edit is to read and then to write."""


def change(workspace: Workspace, asked: Edit | Write) -> str:
    """Change or write a file, one at a time in this process; what was done.

    Raises:
        Unable: nothing was.
    """
    with _CHANGING:
        try:
            return _edit(workspace, asked) if isinstance(asked, Edit) else _write(workspace, asked)
        except OSError as fault:
            raise Unable(f"{asked.path} cannot be changed: {fault.strerror or fault}") from None


def _edit(workspace: Workspace, asked: Edit) -> str:
    place = workspace.file(asked.path)
    data = place.read_bytes()
    if kind := what_binary(data):
        raise Unable(f"{asked.path} is {kind}, not text, and cannot be edited")
    file = read_text(data)
    old, new = file.in_its_form(asked.old_text), file.in_its_form(asked.new_text)
    if old == new:
        raise Unable("old_text and new_text are the same; nothing was changed")
    lines = [file.text.count("\n", 0, at) + 1 for at in _places(file.text, old)]
    if not lines:
        raise Unable(f"old_text is not in {asked.path}, nothing was changed; {_why_not(file, old)}")
    if len(lines) > 1 and not asked.replace_all:
        raise Unable(
            f"old_text is {len(lines)} times in {asked.path} ({_at(lines)}), nothing was changed; give more of the "
            "text around the one that is meant, or replace_all = true"
        )
    _replace(place, file.with_text(file.text.replace(old, new)))
    return f"{asked.path}: replaced at {_at(lines)}"


def _write(workspace: Workspace, asked: Write) -> str:
    place = workspace.place(asked.path)
    there = place.exists()
    if there:
        workspace.file(asked.path)
    data = asked.content.encode()
    place.parent.mkdir(parents=True, exist_ok=True)
    _replace(place, data)
    return f"{asked.path}: {'written anew' if there else 'created'}, {len(data)} bytes"


def _places(text: str, old: str) -> list[int]:
    """Where it is, places that overlap included: which of them is meant cannot be told."""
    places, at = list[int](), text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _at(lines: list[int]) -> str:
    named = ", ".join(map(str, lines[:_NAMED])) + (", ..." if len(lines) > _NAMED else "")
    return f"line {named}" if len(lines) == 1 else f"lines {named}"


def _why_not(file: Text, old: str) -> str:
    if all(_NUMBERED.match(line) for line in old.strip("\n").split("\n")):
        return "leave out the line numbers"
    first = next((line for line in old.split("\n") if line.strip()), "").split()
    alike = [number for number, line in enumerate(file.text.split("\n"), 1) if first and line.split() == first]
    if alike:
        return f"its first line is at {_at(alike)}: read there and copy it with its white space"
    return "read the file again: it may have changed"


def _replace(place: Path, data: bytes) -> None:
    """Put other bytes into a file, or make it."""
    try:
        before = place.stat()
    except FileNotFoundError:
        before = None
    if before is not None and not os.access(place, os.W_OK):
        raise Unable(f"{place.name} may not be written (its mode is {stat.S_IMODE(before.st_mode):o})")
    if before is not None and before.st_nlink > 1:
        place.write_bytes(data)
        return
    made = place.with_name(f".paste-{token_hex(8)}")
    handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # a new file's mode is the umask's to say
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if before is not None:
                with suppress(PermissionError):  # not ours to give away; the text matters more
                    os.fchown(handle, before.st_uid, before.st_gid)
                os.fchmod(handle, stat.S_IMODE(before.st_mode))
        made.replace(place)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
