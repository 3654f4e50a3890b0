"""The tools as a stdio MCP server without a process: lines in and out, as a `Child` has them.

It speaks the session era; a client of the later one is told that its first request is unknown here, and goes back.
"""

import asyncio
import signal
from collections.abc import AsyncIterator

import structlog

from paste_proxy import __version__
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, dumps
from paste_proxy.tools.workbench.backend import Workbench
from paste_proxy.wire.jsonrpc import Notification, Request, read_message, refuse, respond
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read, string
from paste_proxy.wire.mcp import tool_call

_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Of the protocol, the newest first: nothing that is said here differs between them."""
_UNREADABLE, _NO_REQUEST, _NO_METHOD, _NO_PARAMS, _INTERNAL = -32700, -32600, -32601, -32602, -32603
_GRACE_S = 2.0
"""How long calls under way may take to their end when the client has closed its side."""

log = structlog.get_logger(__name__)


class WorkbenchServer:
    """One client's server. Calls run side by side and are answered as they end.

    Args:
        name: the server's name in tool identities.
        workbench: the tools.
    """

    def __init__(self, name: str, workbench: Workbench) -> None:
        self._name, self._workbench = name, workbench
        self._said: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._running: dict[bytes, asyncio.Task[None]] = {}
        self._ending: asyncio.Task[None] | None = None
        self._code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def send(self, line: bytes) -> None:
        """Give it a message.

        Raises:
            UpstreamFault: it has ended.
        """
        if self._code.done():
            raise UpstreamFault(f"MCP server {self._name!r} has ended")
        if not line.strip():
            return
        match read_message(line):
            case Request() as request:
                self._asked(request)
            case Notification(method="notifications/cancelled", params_raw=params_raw):
                running = self._running.get((members(params_raw or b"") or {}).get("requestId", b""))
                if running is not None:
                    running.cancel()
            case Notification():
                pass
            case _:
                self._say(refuse(b"null", _UNREADABLE, "not one JSON-RPC request or notification"))

    async def lines(self) -> AsyncIterator[bytes]:
        """What it says; ends when it has ended."""
        while (line := await self._said.get()) is not None:
            yield line

    def close_input(self) -> None:
        """No more messages come: it ends when the calls under way have, or soon."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(0, _GRACE_S))

    def signal(self, number: int) -> None:
        """End as a program does that a signal ends."""
        if self._ending is not None:
            self._ending.cancel()
        self._ending = asyncio.create_task(self._end(-number, 0))

    async def wait(self) -> int:
        """The exit code, negative for a signal, once it has ended."""
        return await asyncio.shield(self._code)

    async def close(self) -> int:
        """End it; its exit code. Safe to call twice."""
        if not self._code.done():
            self.signal(signal.SIGTERM)
        return await self.wait()

    def release(self) -> None:
        """There is nothing to let go of."""

    def obituary(self, code: int) -> str:
        """How it ended, for people."""
        return f"MCP server {self._name!r} has ended"

    def _asked(self, request: Request) -> None:
        match request.method:
            case "initialize":
                self._say(respond(request.id_raw, dumps(self._introduction(request))))
            case "ping":
                self._say(respond(request.id_raw, b"{}"))
            case "tools/list":
                self._say(respond(request.id_raw, self._workbench.listing()))
            case "tools/call":
                task = asyncio.create_task(self._call(request))
                self._running[request.id_raw] = task
                task.add_done_callback(lambda done: self._over(request.id_raw, done))
            case other:
                self._say(refuse(request.id_raw, _NO_METHOD, f"Method not found: {other}"))

    def _introduction(self, request: Request) -> dict[str, Json]:
        asked = string(read((members(request.params_raw or b"") or {}).get("protocolVersion", b"")))
        return {
            "protocolVersion": asked if asked in _VERSIONS else _VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "paste-proxy-workbench", "title": "Workbench", "version": __version__},
            "instructions": f"Tools for the folder {self._workbench.workspace.given}; paths are relative to it.",
        }

    async def _call(self, request: Request) -> None:
        call = tool_call(request)
        if call is None or call.name not in self._workbench.tools:
            known = ", ".join(self._workbench.tools)
            self._say(refuse(request.id_raw, _NO_PARAMS, f"no such tool here; there are {known}"))
            return
        try:
            result = await self._workbench.run(
                Invocation(f"{self._name}/{call.name}", call.arguments), speculative=False
            )
        except Exception as fault:  # noqa: BLE001 - a fault of ours ends this call, not the server
            log.warning("workbench_fault", tool=call.name, fault=repr(fault))
            self._say(refuse(request.id_raw, _INTERNAL, f"{call.name} broke: {type(fault).__name__}"))
        else:
            self._say(respond(request.id_raw, result.body))

    def _over(self, id_raw: bytes, task: "asyncio.Task[None]") -> None:
        if self._running.get(id_raw) is task:
            del self._running[id_raw]

    def _say(self, message: bytes) -> None:
        self._said.put_nowait(message + b"\n")

    async def _end(self, code: int, grace_s: float) -> None:
        running = list(self._running.values())
        if running and grace_s:
            await asyncio.wait(running, timeout=grace_s)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if not self._code.done():
            self._code.set_result(code)
            self._said.put_nowait(None)
