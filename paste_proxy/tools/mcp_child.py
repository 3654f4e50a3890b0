"""One stdio MCP server as a child process: whole lines in and out, bytes untouched."""

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from secrets import token_bytes

import structlog

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.redaction import Redactor
from paste_proxy.events.secret_traces import may_hold_secret

_CHUNK = 64 * 2**10
_STDERR_LINES = 5
_STDERR_LINE_BYTES = 500
_GRACE_S = 2.0
"""Seconds a server has to leave after each of: its stdin closed, SIGTERM."""

_log = structlog.get_logger()
_REDACTOR = Redactor(token_bytes(32))


class Child:
    """A running server. Made by `Child.start`; `close` it."""

    def __init__(self, server: str, process: asyncio.subprocess.Process, *, own_group: bool) -> None:
        self._server = server
        self._process = process
        self._own_group = own_group
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._drain = asyncio.create_task(self._drain_stderr()) if process.stderr else None

    @classmethod
    async def start(
        cls,
        server: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        inherit: bool = False,
    ) -> "Child":
        """Start `command` with our environment plus `env`.

        Args:
            inherit: True: stderr and process group are ours, as if the client had started the server itself.
                False: stderr is drained into the debug log and the server heads a process group.

        Raises:
            UpstreamFault: the command cannot be started.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=None if inherit else asyncio.subprocess.PIPE,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                start_new_session=not inherit,
            )
        except (OSError, ValueError) as fault:
            raise UpstreamFault(f"MCP server {server!r} cannot be started with {list(command)}: {fault}") from fault
        return cls(server, process, own_group=not inherit)

    async def send(self, line: bytes) -> None:
        """Write one message; a line end is added where it has none.

        Raises:
            UpstreamFault: the server no longer reads.
        """
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(line if line.endswith(b"\n") else line + b"\n")
            await stdin.drain()
        except (OSError, RuntimeError) as fault:
            raise UpstreamFault(f"MCP server {self._server!r} no longer reads its input") from fault

    async def lines(self) -> AsyncIterator[bytes]:
        """Each message as the server wrote it, line end included; ends when the server closes its stdout."""
        stdout = self._process.stdout
        assert stdout is not None
        async for line in whole_lines(stdout):
            yield line

    def close_input(self) -> None:
        """Tell the server that no more messages come."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def signal(self, number: int) -> None:
        """Pass a signal on to the server."""
        with contextlib.suppress(ProcessLookupError):
            if self._own_group:
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)

    async def wait(self) -> int:
        """The exit code, negative for a signal, once the server is gone."""
        code = await self._process.wait()
        if self._drain is not None:
            await asyncio.wait([self._drain], timeout=_GRACE_S)
        return code

    async def close(self) -> int:
        """End the server, gently at first; its exit code. Safe to call twice."""
        self.close_input()
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                async with asyncio.timeout(_GRACE_S):
                    return await self.wait()
            except TimeoutError:
                self.signal(number)
        return await self.wait()

    def release(self) -> None:
        """Let go of the pipes of a server that has been closed: a child of its own may hold their other ends open."""
        transport: asyncio.SubprocessTransport = self._process._transport  # type: ignore[attr-defined]  # no other way
        transport.close()

    def obituary(self, code: int) -> str:
        """How the server ended, for people: its name, exit code and last words."""
        how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
        words = "; its last stderr lines: " + " | ".join(self._said) if self._said else ""
        return f"MCP server {self._server!r} {how}{words}"

    async def _drain_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        rest = b""
        while chunk := await stderr.read(_CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            rest = rest[-_STDERR_LINE_BYTES:]
            for line in whole:
                self._hear(line)
        if rest:
            self._hear(rest)

    def _hear(self, line: bytes) -> None:
        secret = may_hold_secret(line)
        text = line[:_STDERR_LINE_BYTES].decode("utf-8", "replace").rstrip()
        self._said.append(text)
        _log.debug("mcp_server_stderr", server=self._server, line=_REDACTOR.text(text) if secret else text)


async def whole_lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Lines with their ends, as they were written; what comes after the last end is given too."""
    rest = bytearray()
    while chunk := await reader.read(_CHUNK):
        for piece in _split(chunk):
            rest += piece
            if piece.endswith(b"\n"):
                yield bytes(rest)
                rest.clear()
    if rest:
        yield bytes(rest)


def _split(chunk: bytes) -> list[bytes]:
    """Lines by LF alone: a CR or another separator may stand inside a message."""
    pieces = [piece + b"\n" for piece in chunk.split(b"\n")]
    pieces[-1] = pieces[-1][:-1]
    return [piece for piece in pieces if piece]
