"""A program of ours, run as a client runs it."""

import asyncio
import json
import sys

PATIENCE_S = 20.0


async def program(file: str | None, *arguments: str, asked: object) -> tuple[int | None, bytes]:
    """Run a program of ours as a client would; its exit code and what it writes."""
    assert file is not None
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", file, *arguments), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE_S):
        said, _ = await process.communicate(json.dumps(asked).encode())
    return process.returncode, said
