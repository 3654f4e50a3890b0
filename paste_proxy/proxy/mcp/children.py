"""The processes of one stdio MCP server: one per client session, and one that stateless clients share."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from paste_proxy.config import McpServer
from paste_proxy.errors import UpstreamFault
from paste_proxy.proxy.mcp.process import McpProcess
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.tools.mcp_child import Child
from paste_proxy.wire.jsonrpc import Single


@dataclass(slots=True, eq=False)
class LiveProcess:
    """A process and the client session it belongs to."""

    id: str
    process: McpProcess
    watch: McpWatch | None = None
    idle: asyncio.TimerHandle | None = None


class McpChildren:
    """Starts processes, finds them by session, ends them when idle.

    Args:
        idle_s: a session without a request, a waiting answer or an open stream for this long is over.
        ended: called with the id of a session whose process is gone.
        failed: called with a few words where a process cannot be started, or ends of its own accord.
    """

    def __init__(
        self,
        name: str,
        server: McpServer,
        *,
        idle_s: float,
        ended: Callable[[str], None],
        failed: Callable[[str], None] = lambda why: None,
    ) -> None:
        self._name, self._server, self._idle_s = name, server, idle_s
        self._ended, self._failed = ended, failed
        self._live: dict[str, LiveProcess] = {}
        self._shared: LiveProcess | None = None
        self._starting = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    def find(self, session_id: str) -> LiveProcess | None:
        """The process of a session, None if the session is over."""
        live = self._live.get(session_id)
        if live is not None:
            self._touch(live)
        return live

    async def open(self) -> LiveProcess:
        """A process for a new session.

        Raises:
            UpstreamFault: it cannot be started.
        """
        return await self._start(shared=False)

    async def shared(self) -> LiveProcess:
        """The process of the clients without sessions.

        Raises:
            UpstreamFault: it cannot be started.
        """
        async with self._starting:
            if self._shared is None or self._shared.id not in self._live:
                self._shared = await self._start(shared=True)
        self._touch(self._shared)
        return self._shared

    async def end(self, session_id: str) -> None:
        """The session is over."""
        live = self._live.pop(session_id, None)
        if live is not None:
            await live.process.close()

    def abandon(self, session_id: str) -> None:
        """The session is over, and nobody waits for its process to end."""
        task = asyncio.create_task(self.end(session_id))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """All sessions are over."""
        await asyncio.gather(*(self.end(session_id) for session_id in list(self._live)), *self._closing)

    async def _start(self, *, shared: bool) -> LiveProcess:
        try:
            child = await Child.start(self._name, self._server.command, env=self._server.env, cwd=self._server.cwd)
        except UpstreamFault:
            self._failed("its `command` cannot be started")
            raise
        session_id = uuid4().hex

        def heard(message: Single) -> None:
            if live.watch is not None:
                live.watch.server_sent(message)

        def gone() -> None:
            if self._live.pop(session_id, None) is not None:
                self._failed("its process ended of its own accord")
            if live.idle is not None:
                live.idle.cancel()
            self._ended(session_id)

        live = LiveProcess(session_id, McpProcess(child, heard, gone, shared=shared))
        self._live[session_id] = live
        self._touch(live)
        return live

    def _touch(self, live: LiveProcess) -> None:
        if live.idle is not None:
            live.idle.cancel()
        live.idle = asyncio.get_running_loop().call_later(self._idle_s, self._rest, live)

    def _rest(self, live: LiveProcess) -> None:
        if live.process.busy:
            self._touch(live)
            return
        self.abandon(live.id)
