"""`grep`: lines that match a regular expression.

The search runs in a process of its own: some expressions take forever, and nothing but its end stops one.
"""

import asyncio
import sys
from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, Field

from paste_proxy.events.values import dumps, loads
from paste_proxy.tools.workbench.aside import in_thread
from paste_proxy.tools.workbench.workspace import Unable, Workspace

_PROGRAM = "paste_proxy.tools.workbench.search_process"
_TIMEOUT_S = 20.0


class Grep(BaseModel):
    """Search the contents of files for a regular expression (Python's), line by line. What .gitignore files leave out,
    binary files and files of more than 10 MB are not searched."""

    pattern: str = Field(min_length=1, description="The regular expression.")
    path: str = Field(".", description="The file or folder to search, relative to the workspace.")
    glob: str = Field("", description="Only files that this glob names, such as *.py or src/**/*.{ts,tsx}.")
    output: Literal["lines", "files", "counts"] = Field(
        "lines", description="Matching lines with their numbers, files that have some, or how many each has."
    )
    context: int = Field(0, ge=0, le=20, description="Lines shown before and after each match.")
    ignore_case: bool = Field(False, description="Take upper and lower case for the same.")
    literal: bool = Field(False, description="The pattern is a plain text, not an expression.")
    limit: int = Field(100, ge=1, le=1_000, description="At most so many matching lines, or files.")
    ignored: bool = Field(False, description="Also search what .gitignore files leave out.")


async def grep(
    workspace: Workspace,
    asked: Grep,
    *,
    timeout_s: float = _TIMEOUT_S,
    started: Callable[[int], None] = lambda pid: None,
) -> str:
    """What was found, by path and line. Cancelling ends the search.

    Args:
        started: told of its process, which heads a session.

    Raises:
        Unable: no such place, no such expression, or it took too long.
    """
    start = await in_thread(_start, workspace, asked.path)
    wanted = dumps({**asked.model_dump(), "root": str(workspace.root), "start": start})
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", _PROGRAM),  # -P: nothing in the workspace is taken for a module
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        started(process.pid)
        async with asyncio.timeout(timeout_s):
            said, _ = await process.communicate(wanted)
    except TimeoutError:
        raise Unable(
            f"the search was not done within {timeout_s:g} s and was stopped; name a narrower path or glob, or a "
            "simpler pattern (no repetition inside a repetition)"
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    answer = loads(said) if said else None
    match answer:
        case {"found": str(found)}:
            return found
        case {"unable": str(why)}:
            raise Unable(why)
        case _:
            raise Unable("the search broke off; search in a smaller folder")


def _start(workspace: Workspace, path: str) -> str:
    place = workspace.place(path)
    return str(workspace.folder(path) if place.is_dir() else workspace.file(path))
