"""Files that a call names, in the page cache before it is made: the kernel is asked to read them, and nobody looks.

Only files inside of the workspace, so many and so large: a guess may be wrong, and names may be anything.
"""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from stat import S_ISREG

from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.speculation.plain_commands import pipeline
from paste_proxy.speculation.preparation import Need, Preparation
from paste_proxy.tools.workbench.workspace import Unable, Workspace

_FILES = 8
_BYTES = 8 * 2**20
_READERS = ("read", "edit", "grep")
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="warming")
"""Not those of the agent's own calls: a folder of a network may keep one waiting."""


class FileAhead:
    """One file.

    Args:
        path: as a call names it.
    """

    apart = False
    ready = True
    """What the kernel has read, it usually keeps for a while; it does not say."""

    def __init__(self, workspace: Workspace, path: str) -> None:
        self._workspace, self._path = workspace, path
        self.need = Need(Preparation.FILES, str(workspace.given / path))

    async def prepare(self) -> bool:
        """Have it read. False: there is no such file, or it is too large, or this system does not do that.

        Raises:
            OSError: it cannot be opened.
        """
        return await asyncio.get_running_loop().run_in_executor(_THREADS, self._read)

    def _read(self) -> bool:
        try:
            place = self._workspace.place(self._path)
            found = place.stat()
        except (Unable, FileNotFoundError, NotADirectoryError):
            return False
        if not hasattr(os, "posix_fadvise") or not S_ISREG(found.st_mode) or found.st_size > _BYTES:
            return False
        file = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(file)
        return True


def named(workspace: Workspace, invocation: Invocation) -> list[FileAhead]:
    """The files that a call of our own tools may read, by its arguments."""
    paths = dict.fromkeys(_paths(name_of(invocation.tool), invocation))
    return [FileAhead(workspace, path) for path in list(paths)[:_FILES]]


def _paths(tool: str, invocation: Invocation) -> Iterator[str]:
    path, command = invocation.arguments.get("path"), invocation.arguments.get("command")
    if tool in _READERS and isinstance(path, str):
        yield path
    if tool == "run" and isinstance(command, str):
        folder = invocation.arguments.get("cwd")
        beside = PurePath(folder if isinstance(folder, str) else "")
        for argv in pipeline(command) or ():
            yield from (str(beside / word) for word in argv[1:] if not word.startswith("-"))
