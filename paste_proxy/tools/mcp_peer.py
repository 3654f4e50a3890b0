"""The seam to a stdio MCP server at work, be it a process or part of this one."""

from collections.abc import AsyncIterator
from typing import Protocol


class Peer(Protocol):
    """Whole lines in and out, one client."""

    async def send(self, line: bytes) -> None:
        """Give it one message.

        Raises:
            UpstreamFault: it no longer reads.
        """

    def lines(self) -> AsyncIterator[bytes]:
        """Each message as it wrote it, line end included; ends when nothing more comes."""

    def close_input(self) -> None:
        """Tell it that no more messages come."""

    def signal(self, number: int) -> None:
        """Pass a signal on to it."""

    async def wait(self) -> int:
        """Its exit code, negative for a signal, once it has ended."""

    async def close(self) -> int:
        """End it, gently at first; its exit code. Safe to call twice."""

    def release(self) -> None:
        """Let go of what a server that has been closed may still hold."""

    def obituary(self, code: int) -> str:
        """How it ended, for people."""
