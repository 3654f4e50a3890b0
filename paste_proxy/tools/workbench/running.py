"""`run`: a command by a shell of its own.

It is run as a policy's `same = { shell = ... }` asks for: input empty, output and errors in one pipe that is read to
its end, the folder lexically normal and told as `PWD`, no `CDPATH`; and its answer is of the form that `answer_of` has.
"""

import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from pydantic import BaseModel, Field

from paste_proxy.speculation.sameness.shell import answer_of
from paste_proxy.staging.types import Staged
from paste_proxy.tools.workbench.output import Output
from paste_proxy.tools.workbench.workspace import Unable, Workspace

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


Runner: TypeAlias = Callable[[Staged, Output], Awaitable[int | None]]
"""Runs a command and gives the output its bytes: the exit code as `subprocess` has it, None after `timeout_s`, with all
that it started ended. Cancelling ends it too. Raises OSError where it cannot be started."""


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


async def run(command: Staged, runner: Runner) -> str:
    """What it wrote, and its exit code.

    Raises:
        Unable: it was stopped for want of time, or could not be started.
    """
    output = Output()
    try:
        exit_code = await runner(command, output)
    except OSError as fault:
        raise Unable(f"the command cannot be started ({fault.strerror or fault})") from None
    if exit_code is None:
        raise Unable(
            f"[stopped after {command.timeout_s:g} s; raise timeout, or leave what is to go on running with "
            f"> FILE 2>&1 &]\n{output.text()}"
        )
    return answered(exit_code, output)


def answered(exit_code: int, output: Output) -> str:
    """The text of the answer.

    Args:
        exit_code: as `subprocess` has it.
    """
    code = exit_code if exit_code >= 0 else _SIGNALLED - exit_code
    if not output.left_out:
        return answer_of(code, output.text())
    return f"[exit {code}, {output.left_out} bytes of output left out in the middle]\n{output.text()}"
