"""A command run as it is, its effects happening at once: what the agent gets where nothing was staged for it."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from paste_proxy.staging.output import Output
from paste_proxy.staging.types import Ran, Staged

OWN_UMASK = os.umask(0o077)
"""Of this process. There is no way to ask for it but to set it."""
os.umask(OWN_UMASK)
TOO_MUCH = "it wrote more than is kept"


async def run(staged: Staged, *, output_bytes: int, started: Callable[[int], None] = lambda pid: None) -> Ran:
    """Run it to its end, in a session of its own, with nothing to read. Background processes that it leaves behind
    stay; what they write later is not read.

    At its timeout, or when it writes more than `output_bytes`, its whole group is killed and `poisons` says so.
    Cancelling kills the group, too.

    Args:
        started: told of its process, which heads the session.

    Raises:
        OSError: it cannot be started.
    """
    output = Output(output_bytes)
    try:
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *staged.argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output.far_end,
            stderr=output.far_end,
            cwd=staged.cwd,
            env=dict(staged.env),
            start_new_session=True,
            # a function of ours in the child makes the start slower: only where it must be
            preexec_fn=partial(os.umask, staged.umask) if staged.umask != OWN_UMASK else None,
        )
        try:
            started(process.pid)
            output.handed_over()
            poisons = await ends(process.wait(), output, staged.timeout_s)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        ran_s = time.monotonic() - began
        written = output.drain()
        if output.overflowed.is_set():
            poisons = (TOO_MUCH,)
        return Ran(
            exit_code=process.returncode or 0, output=written, ran_s=ran_s, poisons=poisons, looked_at=frozenset()
        )
    finally:
        output.close()


async def ends(end: Coroutine[Any, Any, object], output: Output, timeout_s: float) -> tuple[str, ...]:
    """Wait for the end of what writes this output, or why it is not waited for any longer."""
    ended, overflowed = asyncio.ensure_future(end), asyncio.ensure_future(output.overflowed.wait())
    try:
        await asyncio.wait((ended, overflowed), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if output.overflowed.is_set():
            return (TOO_MUCH,)
        return () if ended.done() else (f"it was not done within {timeout_s:g} s",)
    finally:
        ended.cancel()
        overflowed.cancel()
