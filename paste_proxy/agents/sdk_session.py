"""What a process knows of its agent sessions: their tools and where they run."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from threading import Lock

from paste_proxy.agents.sdk_jobs import Tool

_TOOLS_OFFERED = 1_000
"""An LLM may invent names without end; a session offers no more than this."""


@dataclass(slots=True)
class Session:
    """A session of this process; the empty name is the one that has none."""

    name: str
    tools: dict[str, Tool]
    """By name; the one that the session called last."""
    context: Context = field(default_factory=copy_context)
    """The context variables of its latest call: jobs find the same."""
    loop: asyncio.AbstractEventLoop | None = None
    """Where its async tools run."""
    users: int = 0
    """`with` blocks that are in it."""
    ahead: bool = True
    """Whether anything may be run ahead for it."""

    def seen(self, tool: Tool) -> None:
        """The session calls a tool, here and now."""
        if tool.name in self.tools or len(self.tools) < _TOOLS_OFFERED:
            self.tools[tool.name] = tool
        self.context = copy_context()
        if tool.is_async:
            self.loop = asyncio.get_running_loop()


class Sessions:
    """The sessions of this process, by name.

    Args:
        default: the session outside of any block, or what names it.
        ahead: whether anything may be run ahead for sessions that do not say.
    """

    def __init__(self, default: str | Callable[[], str], *, ahead: bool = True) -> None:
        self.known: dict[str, Session] = {}
        self._default, self._ahead = default, ahead
        self._current: ContextVar[str | None] = ContextVar("paste_session", default=None)
        self._declared: dict[str, Tool] = {}
        self._lock = Lock()

    def declare(self, tool: Tool) -> tuple[str, ...]:
        """A tool that every session can call; gives the names of those there are."""
        with self._lock:
            self._declared[tool.name] = tool
            for session in self.known.values():
                session.tools[tool.name] = tool
            return tuple(self.known)

    def current(self) -> Session:
        """The session that the running code is in."""
        name = self._current.get()
        if name is None:
            name = self._default if isinstance(self._default, str) else self._default()
        with self._lock:
            return self._open(name)

    @contextmanager
    def within(self, name: str, over: Callable[[str], None], *, ahead: bool = True) -> Iterator[Session]:
        """Be in a session; `over` is called when its last block ends.

        Args:
            ahead: whether anything may still be run ahead for it; once not, never again.
        """
        with self._lock:
            session = self._open(name)
            session.users += 1
            session.ahead = session.ahead and ahead
        token = self._current.set(name)
        try:
            yield session
        finally:
            self._current.reset(token)
            with self._lock:
                session.users -= 1
                if session.users == 0:
                    self.known.pop(name, None)
            if session.users == 0:
                over(name)

    def _open(self, name: str) -> Session:
        session = self.known.get(name)
        if session is None:
            session = self.known[name] = Session(name, dict(self._declared), ahead=self._ahead)
        if session.loop is None or session.loop.is_closed():
            session.loop = _running_loop()
        return session


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that the code runs on: very likely the one that the session's async tools will run on."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
