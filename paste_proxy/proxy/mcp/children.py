"""The processes of one stdio MCP server: one per client session, and one that stateless clients share.

A process ends with its session: by the client's DELETE, after an idle time, a while after the client closed
the stream on which it listened without a word since, or, of more than the configured number, when it is
the one unused longest. None is ended that somebody waits for or listens to; a client that comes back later is
told so in the protocol's way, 404, and opens a new session.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4
from weakref import WeakSet

from paste_proxy.config import McpServer
from paste_proxy.errors import UpstreamFault
from paste_proxy.proxy.mcp.process import McpProcess
from paste_proxy.proxy.mcp.starting import start
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.wire.jsonrpc import Single

if TYPE_CHECKING:
    from paste_proxy.staging.stages import Stages

LEFT_S = 600.0
"""How long a client may stay away that has closed the stream on which it listened."""
LATELY_S = 60.0
"""A session used in these last seconds is never ended to make room."""


@dataclass(slots=True, eq=False)
class LiveProcess:
    """A process and the client session it belongs to."""

    id: str
    process: McpProcess
    watches: WeakSet[McpWatch] = field(default_factory=WeakSet)
    """Of the client's session; of all clients that share it."""
    used: float = 0.0
    """Loop time of its latest request."""
    idle: asyncio.TimerHandle | None = None


class McpChildren:
    """Starts processes, finds them by session, ends them when idle.

    Args:
        idle_s: a session without a request, a waiting answer or an open stream for this long is over.
        ended: called with the id of a session whose process is gone.
        stages: where commands of our own tools may be run ahead.
        failed: called with a few words where a process cannot be started, or ends of its own accord.
    """

    def __init__(
        self,
        name: str,
        server: McpServer,
        *,
        idle_s: float,
        ended: Callable[[str], None],
        stages: "Stages | None" = None,
        failed: Callable[[str], None] = lambda why: None,
    ) -> None:
        self._name, self._server, self._idle_s = name, server, idle_s
        self._ended, self._failed, self._stages = ended, failed, stages
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
        self._make_room()
        return await self._start(shared=False)

    @property
    def sharing(self) -> bool:
        """Whether the process of the clients without sessions runs."""
        return self._shared is not None and self._shared.id in self._live

    async def shared(self) -> LiveProcess:
        """The process of the clients without sessions.

        Raises:
            UpstreamFault: it cannot be started.
        """
        async with self._starting:
            if self._shared is None or not self.sharing:
                self._shared = await self._start(shared=True)
        self._touch(self._shared)
        return self._shared

    def left(self, session_id: str) -> None:
        """The client closed the stream on which it listened: if it does not come back, it is gone."""
        live = self._live.get(session_id)
        if live is not None and not live.process.busy:
            self._touch(live, min(self._idle_s, LEFT_S))

    async def end(self, session_id: str) -> None:
        """The session is over."""
        live = self._live.pop(session_id, None)
        if live is not None:
            await live.process.close()

    def abandon(self, session_id: str) -> None:
        """The session is over, and nobody waits for its process to end."""
        live = self._live.pop(session_id, None)
        if live is not None:
            task = asyncio.create_task(live.process.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """All sessions are over."""
        await asyncio.gather(*(self.end(session_id) for session_id in list(self._live)), *self._closing)

    async def _start(self, *, shared: bool) -> LiveProcess:
        try:
            child = await start(self._name, self._server, self._stages)
        except UpstreamFault:
            self._failed("its `command` cannot be started")
            raise
        session_id = uuid4().hex

        def heard(message: Single) -> None:
            for watch in list(live.watches):
                watch.server_sent(message)

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

    def _make_room(self) -> None:
        surplus = len(self._live) + 1 - self._server.processes
        lately = asyncio.get_running_loop().time() - LATELY_S
        unused = [live for live in self._live.values() if live.used < lately and not live.process.busy]
        unused = sorted((live for live in unused if live is not self._shared), key=lambda live: live.used)
        for live in unused[: max(0, surplus)]:
            self.abandon(live.id)

    def _touch(self, live: LiveProcess, rest_s: float | None = None) -> None:
        loop = asyncio.get_running_loop()
        live.used = loop.time()
        if live.idle is not None:
            live.idle.cancel()
        live.idle = loop.call_later(self._idle_s if rest_s is None else rest_s, self._rest, live)

    def _rest(self, live: LiveProcess) -> None:
        if live.process.busy:
            self._touch(live)
            return
        self.abandon(live.id)
