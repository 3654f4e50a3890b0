"""`glob`: files by their names."""

from pathlib import Path

from pydantic import BaseModel, Field

from paste_proxy.tools.workbench.globs import globs
from paste_proxy.tools.workbench.walking import walk
from paste_proxy.tools.workbench.workspace import Unable, Workspace

_MOST = 200
_SEEN = 200_000


class Glob(BaseModel):
    """Find files by a glob, the latest changed first. What .gitignore files leave out is not found."""

    pattern: str = Field(
        min_length=1,
        description="Such as *.py (in any folder), src/**/*.{ts,tsx}, /Makefile (only in the folder itself).",
    )
    path: str = Field(".", description="The folder to look in, relative to the workspace.")
    ignored: bool = Field(False, description="Also find what .gitignore files leave out.")


def find_files(workspace: Workspace, asked: Glob) -> str:
    """Their paths, from the workspace.

    Raises:
        Unable: no such folder, or no glob.
    """
    folder = workspace.folder(asked.path)
    try:
        patterns = globs(asked.pattern)
    except ValueError as fault:
        raise Unable(str(fault)) from None
    below = 0 if folder == workspace.root else len(workspace.name(folder)) + 1
    entries = list(walk(workspace.root, folder, everything=asked.ignored, most=_SEEN))
    files = (entry.path for entry in entries if not entry.is_folder)
    found = [path for path in files if any(pattern.fits(path[below:]) for pattern in patterns)]
    found.sort(key=lambda path: (-_changed(workspace.root / path), path))
    lines = found[:_MOST]
    if len(found) > _MOST:
        lines.append(f"[{len(found) - _MOST} more, changed before these; narrow the glob or name a path]")
    if len(entries) == _SEEN:
        lines.append(f"[only the first {_SEEN} entries were looked at; name a path]")
    return "\n".join(lines) or f"[no file is named {asked.pattern}]"


def _changed(place: Path) -> int:
    try:
        return place.lstat().st_mtime_ns
    except OSError:
        return 0
