"""Runs a command in a process group of its own, which ends as a whole when it is cancelled or out of time."""

import asyncio
import os
import signal
from contextlib import suppress

from paste_proxy.staging.types import Staged
from paste_proxy.tools.workbench.output import Output

_CHUNK_BYTES = 2**16
_GRACE_S = 2.0
"""From the polite signal to the one that cannot be caught."""


async def run_normally(command: Staged, output: Output) -> int | None:
    """See `Runner`. A program that it left in the background, its output elsewhere, goes on when it has ended."""
    process = await asyncio.create_subprocess_exec(
        *command.argv,
        cwd=command.cwd,
        env=dict(command.env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(command.timeout_s):
            while chunk := await process.stdout.read(_CHUNK_BYTES):
                output.feed(chunk)
            return await process.wait()
    except TimeoutError:
        await _end(process)
        return None
    except BaseException:
        await _end(process)
        raise


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the group: politely while the shell itself lives, then at once, whatever is left of it."""
    _signal(process.pid, signal.SIGTERM)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_S)
    finally:
        _signal(process.pid, signal.SIGKILL)
    await process.wait()
    transport: asyncio.SubprocessTransport = process._transport  # type: ignore[attr-defined]  # no other way
    transport.close()  # whoever left the group may hold the pipe open


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
