"""Conversations of the official Python client, noted down so that two of them can be compared."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.types import ListRootsResult, Root
from pydantic import FileUrl

Mode = Literal["auto", "legacy"]
Call = tuple[str, dict[str, Any]]

OURS = ("-c", "import typer; from paste_proxy.cli.mcp import mcp; typer.run(mcp)")


async def talk(
    server: str | StdioServerParameters, calls: Sequence[Call], mode: Mode = "auto", *, roots: Path | None = None
) -> dict[str, Any]:
    """List the tools, make the calls; everything that the client was told.

    Args:
        roots: the folder that the client gives as its root, if the server asks.
    """

    async def our_roots(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(f"file://{roots}"))])

    async with Client(server, mode=mode, list_roots_callback=our_roots if roots else None) as client:
        noted: dict[str, Any] = {
            "version": client.protocol_version,
            "server": client.server_info,
            "capabilities": client.server_capabilities,
            "tools": [tool.model_dump() for tool in (await client.list_tools()).tools],
        }
        if roots is not None:
            await _roots_taken(client, roots)
        noted["calls"] = [await _call(client, name, arguments) for name, arguments in calls]
    return noted


async def _roots_taken(client: Client, roots: Path) -> None:
    """Wait until the filesystem server has made the client's roots its own, which it announces to nobody."""
    async with asyncio.timeout(10):
        while str(roots) not in str(await client.call_tool("list_allowed_directories", {})):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def _call(client: Client, name: str, arguments: dict[str, Any]) -> tuple[Any, list[Any]]:
    heard: list[Any] = []

    async def heard_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    try:
        result = await client.call_tool(name, arguments, progress_callback=heard_progress)
    except MCPError as refusal:
        return refusal.error.model_dump(), heard
    return result.model_dump(), heard


def program(command: Sequence[str]) -> StdioServerParameters:
    """A stdio server for the client to start."""
    return StdioServerParameters(command=command[0], args=list(command[1:]))


def behind_us(command: Sequence[str], *options: str) -> StdioServerParameters:
    """The same server behind `paste-proxy mcp`."""
    return program((sys.executable, *OURS, *options, "--", *command))


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def running(command: Sequence[str], port: int, **env: str) -> AsyncIterator[str]:
    """An HTTP server as a process; its `/mcp` endpoint once it listens on `port`."""
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **env}, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(20):
            while not await _listening(port):  # noqa: ASYNC110 - a process of its own has no event for us
                await asyncio.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.wait()


async def _listening(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
