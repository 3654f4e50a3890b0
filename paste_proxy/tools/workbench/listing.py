"""`list`: what lies in a folder."""

import os

from pydantic import BaseModel, Field

from paste_proxy.tools.workbench.walking import Entry, listed
from paste_proxy.tools.workbench.workspace import Workspace

_MOST = 1_000


class List(BaseModel):
    """List a folder: folders with a slash at their end, files with their size in bytes, links with where they lead.
    What .gitignore files leave out is only counted."""

    path: str = Field(".", description="The folder, relative to the workspace.")
    ignored: bool = Field(False, description="Also list what .gitignore files leave out.")


def list_folder(workspace: Workspace, asked: List) -> str:
    """The entries, by name.

    Raises:
        Unable: there is no such folder.
    """
    folder = workspace.folder(asked.path)
    os.scandir(folder).close()  # one that may not be read is an error, not empty
    entries = listed(workspace.root, folder, everything=True)
    kept = entries if asked.ignored else listed(workspace.root, folder)
    lines = [_line(workspace, entry) for entry in kept[:_MOST]]
    if len(kept) > _MOST:
        lines.append(f"[{len(kept) - _MOST} more; find them by name with glob]")
    if len(entries) > len(kept):
        lines.append(f"[{len(entries) - len(kept)} left out by .gitignore; list with ignored = true to see them]")
    return "\n".join(lines) or "[the folder is empty]"


def _line(workspace: Workspace, entry: Entry) -> str:
    place = workspace.root / entry.path
    try:
        if entry.is_link:
            return f"{entry.name} -> {place.readlink()}"
        return f"{entry.name}/" if entry.is_folder else f"{entry.name} ({place.lstat().st_size} bytes)"
    except OSError:  # it has gone in this moment
        return entry.name
