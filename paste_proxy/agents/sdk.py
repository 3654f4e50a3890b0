"""The Python SDK: an agent's tools, run ahead in the agent's own process.

    paste = Sidecar("http://127.0.0.1:8377", session="task-42")

    @paste.tool
    def search(query: str) -> list[str]: ...

    dispatch = paste.wrap(dispatch)     # any callable (name, arguments) -> result

Calls behave as before: they run in the caller's own thread or task, and whatever is wrong with the
sidecar, they run. When the sidecar foresaw a call, its value is there already: the very object that the
tool returned. A tool is a function whose work is over when it returns; what it yields or awaits later is
never run ahead. Only JSON arguments (dict, list, str, int, float, bool, None) can be foreseen.
"""

import asyncio
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from threading import Lock
from types import TracebackType
from typing import Any, ParamSpec, Protocol, Self, TypeVar, cast, overload

from paste_proxy.agents.protocol import ARGUMENTS_CHARS
from paste_proxy.agents.sdk_arguments import as_json
from paste_proxy.agents.sdk_call import Call
from paste_proxy.agents.sdk_jobs import INSIDE, Tool
from paste_proxy.agents.sdk_link import Link
from paste_proxy.agents.sdk_run import AskedCall
from paste_proxy.agents.sdk_session import Sessions
from paste_proxy.agents.sdk_stats import Stats
from paste_proxy.agents.sdk_tools import (
    UNKNOWN,
    CallReader,
    DispatchReader,
    Failed,
    FunctionReader,
    Reader,
    Written,
    is_async,
)

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Decorator(Protocol):
    """Gives back a function with the same parameters and result."""

    def __call__(self, function: Callable[_P, _R], /) -> Callable[_P, _R]:
        """The function, with the sidecar before it."""


class Sidecar:
    """An agent process's way to the sidecar; connects in the background at the first call, or on `with`.

    Args:
        url: of the sidecar.
        session: the agent session of calls outside a `session(...)` block, or a function that names it for the
            code that it is called by.
        speculate: whether anything may be run ahead at all. Calls are observed in any case.
        slots: jobs run ahead at once, in this process.
        patience_s: the longest that a call waits for a sign of the sidecar.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8377",
        *,
        session: str | Callable[[], str] = "",
        speculate: bool = True,
        slots: int = 16,
        patience_s: float = 0.25,
    ) -> None:
        self.stats = Stats()
        self._url, self._slots, self._patience_s = url, slots, patience_s
        self._sessions = Sessions(session, ahead=speculate)
        self._written: ContextVar[Written] = ContextVar("paste_written", default=UNKNOWN)
        self._numbers = count(1)
        self._link: Link | None = None
        self._link_process = 0
        self._lock = Lock()
        self._closed = False

    # --- tools ------------------------------------------------------------------------------------

    @overload
    def tool(self, function: Callable[_P, _R], /) -> Callable[_P, _R]: ...

    @overload
    def tool(self, /, *, name: str | None = None, failed: Failed | None = None) -> Decorator: ...

    def tool(
        self, function: Callable[..., Any] | None = None, /, *, name: str | None = None, failed: Failed | None = None
    ) -> Any:
        """Decorate a tool, sync or async.

        Args:
            name: as the LLM calls it; the function's own name if not given.
            failed: whether a returned value tells of an error; such a value is never used for a later call.
        """

        def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
            own_name: str = getattr(function, "__name__", type(function).__name__)
            reader = FunctionReader(function, name or own_name, failed)
            self._declare(reader.tool)
            return self._around(function, reader)

        return decorate if function is None else decorate(function)

    def wrap(
        self, dispatch: Callable[_P, _R], *, tools: Iterable[str] = (), failed: Failed | None = None
    ) -> Callable[_P, _R]:
        """A dispatch function `(name, arguments) -> result`, sync or async, with the sidecar before it.

        Args:
            tools: names that it serves, so that even their first call can be foreseen; others become
                known when they are called.
            failed: whether a returned value tells of an error; such a value is never used for a later call.
        """
        reader = DispatchReader(dispatch, failed)
        for name in tools:
            self._declare(reader.tool(name))
        return self._around(dispatch, reader)

    def adapt(
        self,
        function: Callable[_P, _R],
        *,
        name: str,
        arguments: Callable[_P, object],
        run: Callable[[dict[str, Any]], Any],
        failed: Failed | None = None,
    ) -> Callable[_P, _R]:
        """A framework's own way of calling one tool, sync or async, with the sidecar before it.

        Args:
            name: as the LLM calls the tool.
            arguments: given what `function` is called with, the arguments as the LLM wrote them; None where no
                job can be that call.
            run: a job, given such arguments; what it returns is awaited if `function` is async.
            failed: whether a returned value tells of an error; such a value is never used for a later call.
        """
        reader = CallReader(Tool(name, run, is_async(function), failed), arguments)
        self._declare(reader.tool)
        return self._around(function, reader)

    def _around(self, function: Callable[_P, _R], reader: Reader) -> Callable[_P, _R]:
        if is_async(function):
            return cast("Callable[_P, _R]", self._around_async(cast("Callable[..., Any]", function), reader))

        @functools.wraps(function)
        def call_tool(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            asked = self._ask(reader, args, kwargs)
            if asked is None:
                return function(*args, **kwargs)
            job = asked.wait()
            if job is not None:
                return cast("_R", job.ended.result())
            with asked:
                value = asked.value = function(*args, **kwargs)
            return value

        return call_tool

    def _around_async(self, function: Callable[..., Any], reader: Reader) -> Callable[..., Any]:
        @functools.wraps(function)
        async def call_tool(*args: Any, **kwargs: Any) -> Any:
            asked = self._ask(reader, args, kwargs)
            if asked is None:
                return await function(*args, **kwargs)
            job = await asked.wait_in_task()
            if job is not None:
                return job.ended.result()
            with asked:
                asked.value = await function(*args, **kwargs)
            return asked.value

        return call_tool

    # --- calls ------------------------------------------------------------------------------------

    @contextmanager
    def session(self, name: str, *, speculate: bool = True) -> Iterator[None]:
        """Calls in this block, and in tasks started in it, belong to the agent session `name`.

        Args:
            speculate: False: nothing is run ahead for this session from now on, as with the header
                `x-paste-speculate: off`. Its calls are observed all the same.
        """
        with self._sessions.within(name, self._left, ahead=speculate):
            self._offer(name)
            yield

    @contextmanager
    def call_id(self, call_id: str | None, arguments: Mapping[str, object] | None = None) -> Iterator[None]:
        """The call in this block answers the LLM's tool call of that id.

        Args:
            arguments: as the LLM wrote them: defaults that a framework filled in beside them are none of them.
        """
        token = self._written.set(Written(call_id, arguments))
        try:
            yield
        finally:
            self._written.reset(token)

    def _ask(self, reader: Reader, args: tuple[object, ...], kwargs: Mapping[str, object]) -> AskedCall | None:
        """Put a call before the sidecar. None: nothing to ask, it simply runs."""
        if INSIDE.get() or self._closed:
            return None
        try:
            written = self._written.get()
            found = reader(args, kwargs, written.arguments)
            if found is None:
                return None
            self.stats.add("calls")
            link = self._connected()
            if link.over:
                self.stats.add("absent")
                self.stats.add("run")
                return None
            arguments = as_json(found.arguments, longest=ARGUMENTS_CHARS)
            if arguments is None:
                self.stats.add("unreadable")
            session = self._sessions.current()
            session.seen(found.tool)
            call = Call(next(self._numbers), session.name, found.tool, arguments, written.call_id, ahead=session.ahead)
            asked = AskedCall(link, call, self._patience_s, self.stats)
            link.ask(call)
        except Exception:  # noqa: BLE001  ours: the call goes on alone
            self.stats.add("broken")
            return None
        return asked

    # --- life -------------------------------------------------------------------------------------

    def _connected(self) -> Link:
        """This process's link; a forked child gets its own."""
        with self._lock:
            if self._link is None or self._link_process != os.getpid():
                self._link = Link(self._url, self._sessions.known, self._slots, self.stats)
                self._link_process = os.getpid()
            return self._link

    def _declare(self, tool: Tool) -> None:
        for session in self._sessions.declare(tool):
            self._offer(session)

    def _offer(self, session: str) -> None:
        if self._link is not None:
            self._link.offer(session)

    def _left(self, session: str) -> None:
        if self._link is not None:
            self._link.leave(session)

    def connect(self) -> None:
        """Start connecting now, so that the first call can be foreseen; does not wait."""
        self._sessions.current()
        self._connected()

    def close(self) -> None:
        """Disconnect; tools keep working, alone."""
        with self._lock:
            self._closed = True
            link, self._link = self._link, None
        if link is not None:
            link.close()

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, _: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)
