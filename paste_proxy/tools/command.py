"""A tool that is a program: arguments as JSON on its stdin, the result on its stdout."""

import asyncio
import contextlib
import json
import os
import signal

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult

_ERROR_TAIL_BYTES = 4096
_GRACE_S = 2.0
"""From the polite signal to the one that cannot be caught."""
_CHUNK_BYTES = 2**16


class CommandBackend:
    """Runs one tool as a process in a process group of its own, which dies as a whole.

    Args:
        timeout_s: seconds for the whole run.
        output_bytes: more on stdout or stderr than this is a fault, so that no program fills the memory.
    """

    def __init__(self, command: tuple[str, ...], *, timeout_s: float, output_bytes: int = 32 * 2**20) -> None:
        self._command, self._timeout_s, self._output_bytes = command, timeout_s, output_bytes

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        """Stdout as the program wrote it; a non-zero exit is the tool's own error, told by stdout or stderr's end.

        Raises:
            UpstreamFault: the program cannot be started, takes too long or writes too much.
        """
        where = f"tool {invocation.tool!r}: {self._command[0]}"
        process = await self._start(where)
        try:
            async with asyncio.timeout(self._timeout_s):
                stdout, stderr = await self._converse(process, json.dumps(invocation.arguments).encode())
        except TimeoutError as fault:
            raise UpstreamFault(f"{where} was not done within {self._timeout_s:g} s and was stopped") from fault
        except _Overflow as fault:
            raise UpstreamFault(f"{where} wrote more than {self._output_bytes} bytes and was stopped") from fault
        finally:
            await _end(process)
        if process.returncode == 0:
            return ToolResult(body=stdout, content_type=_content_type(stdout))
        body = stdout or stderr[-_ERROR_TAIL_BYTES:]
        return ToolResult(body=body, status=Status.ERROR, content_type=_content_type(body))

    async def _start(self, where: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as fault:
            raise UpstreamFault(f"{where} cannot be started ({fault}); check the tool's command") from fault

    async def _converse(self, process: asyncio.subprocess.Process, arguments: bytes) -> tuple[bytes, bytes]:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        _, stdout, stderr, _ = await asyncio.gather(
            _write(process.stdin, arguments), self._read(process.stdout), self._read(process.stderr), process.wait()
        )
        return stdout, stderr

    async def _read(self, stream: asyncio.StreamReader) -> bytes:
        output = bytearray()
        while chunk := await stream.read(_CHUNK_BYTES):
            output += chunk
            if len(output) > self._output_bytes:
                raise _Overflow
        return bytes(output)

    async def close(self) -> None:
        """Nothing outlives a run."""


class _Overflow(Exception):
    """The program wrote more than it may."""


async def _write(stdin: asyncio.StreamWriter, arguments: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a program need not read its arguments
        stdin.write(arguments)
        await stdin.drain()
        stdin.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End what is left of the group: politely while the program itself lives, else at once."""
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_S)
    _signal(process.pid, signal.SIGKILL)
    await process.wait()
    assert process.stdin is not None
    process.stdin.close()
    pipes = [_to_its_end(stream) for stream in (process.stdout, process.stderr) if stream is not None]
    with contextlib.suppress(TimeoutError):  # a program that left the group may hold them open
        await asyncio.wait_for(asyncio.gather(*pipes, return_exceptions=True), _GRACE_S)


async def _to_its_end(stream: asyncio.StreamReader) -> None:
    while await stream.read(_CHUNK_BYTES):
        pass


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _content_type(body: bytes) -> str:
    try:
        json.loads(body)
    except ValueError:
        return "text/plain; charset=utf-8"
    return "application/json"
