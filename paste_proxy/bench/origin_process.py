"""The scripted LLM of the measurements, as a process of its own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from paste_proxy.errors import OurFault

_START_S = 20.0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where it runs."""

    port: int
    pid: int


@asynccontextmanager
async def running_origin() -> AsyncIterator[Origin]:
    """Start it, and stop it at the end.

    Raises:
        OurFault: it did not start.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "paste_proxy.bench.origin"), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        said = await asyncio.wait_for(process.stdout.readline(), _START_S)
        if not said.strip().isdigit():
            raise OurFault("the scripted LLM did not start")
        yield Origin(int(said), process.pid)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
