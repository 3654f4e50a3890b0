"""`run`: a command by a shell of its own.

It is run as a policy's `same = { shell = ... }` asks for: input empty, output and errors in one pipe that is read to
its end, the folder lexically normal and told as `PWD`, no `CDPATH`; and its answer is of the form that `answer_of` has.
"""

import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Protocol

from pydantic import BaseModel, Field

from paste_proxy.speculation.sameness.shell import answer_of
from paste_proxy.staging import normal
from paste_proxy.staging.types import Ran, Staged
from paste_proxy.tools.workbench.output import left_out, shown
from paste_proxy.tools.workbench.workspace import Unable, Workspace

UNNOTICED: Mapping[str, str] = {"GIT_OPTIONAL_LOCKS": "0"}
"""For commands that only read and that nobody has asked for yet: git says what it says without taking a lock, which it
takes to renew its index beside, so that no other command of git comes upon that lock."""
NO_MORE: Mapping[str, str] = {}
_SIGNALLED = 128
_TIMEOUT_S = 120.0
_LONGEST_S = 3_600.0


class Run(BaseModel):
    """Run a command by a shell (bash if it is there): output and errors in order, its exit code on the first line. Each
    command has a shell of its own, so a folder changed to and a variable set are gone with it; its input is empty. Of
    much output the middle is left out. To leave a program running, end its line with > FILE 2>&1 &."""

    command: str = Field(min_length=1, description="The command line.")
    cwd: str = Field(
        "", description="The folder to run it in, relative to the workspace, which is where it runs without."
    )
    timeout: float = Field(
        _TIMEOUT_S, gt=0, le=_LONGEST_S, description="Seconds after which it is stopped, with all that it started."
    )


class Runner(Protocol):
    """Runs a command, its effects happening at once; see `staging.normal.run`."""

    def __call__(self, staged: Staged, /, *, started: Callable[[int], None] = ...) -> Awaitable[Ran]:
        """What it came to."""


run_normally: Runner = partial(normal.run, output_bytes=64 * 2**20)


def staged(workspace: Workspace, asked: Run, *, env: Mapping[str, str], umask: int) -> Staged:
    """The command, with all that it depends on.

    Args:
        env: the whole environment, but for `PWD`.

    Raises:
        Unable: there is no such folder in the workspace.
    """
    if "\0" in asked.command:
        raise Unable("a command has no NUL in it")
    cwd = os.path.normpath(workspace.root / asked.cwd)
    workspace.folder(cwd)
    known = {name: value for name, value in env.items() if name not in ("CDPATH", "OLDPWD")}
    return Staged(
        argv=(shutil.which("bash") or "/bin/sh", "-c", asked.command),
        workspace=str(workspace.root),
        cwd=cwd,
        env=tuple(sorted({**known, "PWD": cwd}.items())),
        umask=umask,
        timeout_s=asked.timeout,
    )


def half_done(ran: Ran, why: str) -> str:
    """The text for a command of which only a part could be made to happen."""
    return (
        f"[the command has run, but not all that it changed could be put in place: {why}. Do not run it again: the "
        f"rest is put in place when this server next starts]\n{shown(ran.output)}"
    )


def answered(ran: Ran) -> str:
    """The text that tells what it wrote, and its exit code.

    Raises:
        Unable: it was stopped.
    """
    if ran.poisons:
        raise Unable(
            f"[stopped: {', '.join(ran.poisons)}; raise timeout, send much output to a file, or leave what is to go on "
            f"running with > FILE 2>&1 &]\n{shown(ran.output)}"
        )
    code = ran.exit_code if ran.exit_code >= 0 else _SIGNALLED - ran.exit_code
    if missing := left_out(ran.output):
        return f"[exit {code}, {missing} bytes of output left out in the middle]\n{shown(ran.output)}"
    return answer_of(code, ran.output.decode("utf-8", "replace"))
