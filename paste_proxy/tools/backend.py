"""The seam between the executor and whatever runs a tool."""

import asyncio
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.preparation import Need


class Backend(Protocol):
    """Runs invocations of one server (or of one set of tools). Cancelling `run` cancels the tool too."""

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        """The tool's answer; a tool's own error is a `ToolResult` with `Status.ERROR`.

        Raises:
            UpstreamFault: the tool could not be run or its answer could not be had.
        """

    async def close(self) -> None:
        """Release processes and connections. Safe to call twice."""


@runtime_checkable
class Connecting(Backend, Protocol):
    """A backend that opens a connection before it can run anything, which may take long."""

    @property
    def connected(self) -> bool:
        """Whether `run` would send its call at once."""

    async def connect(self) -> None:
        """Wait until it is connected or cannot be, which shows at `run`. Cancelling gives up the wait, not the
        connection. Raises nothing."""


@runtime_checkable
class GivingWay(Backend, Protocol):
    """A backend whose tools work on this machine, where what is run ahead can stay out of the way."""

    async def run_aside(self, invocation: Invocation, wanted: asyncio.Event) -> ToolResult:
        """As `run`, ahead of an agent.

        Args:
            wanted: set once the agent waits for it; until then it gives way to all else on the machine.
        """


class PartDone(Exception):
    """Only a part of what was held back has happened, so that the call must not be run. The rest follows once it can.

    Args:
        told: what the agent is to see.
    """

    def __init__(self, told: ToolResult) -> None:
        super().__init__("a commit is not finished")
        self.told = told


class Held(Protocol):
    """A run whose effects are held back, each one committed or discarded once."""

    @property
    def result(self) -> ToolResult:
        """What the agent is to see, if it is committed."""

    @property
    def changes(self) -> bool:
        """Whether anything is otherwise once it is committed; True where that is not known."""

    async def commit(self) -> bool:
        """Let its effects happen, all of them. False: nothing has happened, and the call has to be run.

        Cancelling waits until it is over.

        Raises:
            PartDone: some of them have happened.
        """

    async def discard(self) -> None:
        """Leave nothing of it. Raises nothing, and does nothing after a commit."""


@runtime_checkable
class Staging(Backend, Protocol):
    """A backend that can run a call without letting its effects happen yet."""

    def stages(self, invocation: Invocation) -> bool:
        """Whether it can do so with this call on this machine."""

    async def stage(self, invocation: Invocation, wanted: asyncio.Event) -> Held:
        """Run it and hold its effects back. Cancelling discards it.

        Args:
            wanted: set once the agent waits for it; until then it gives way to all else on the machine.

        Raises:
            UpstreamFault: it could not be run so, or what it did cannot be held back.
        """


class Preparable(Protocol):
    """Something that a call needs, and that can be got ready without making the call or sending anything of it."""

    @property
    def need(self) -> Need:
        """What it is."""

    @property
    def ready(self) -> bool:
        """Whether what was got ready still is, as far as can be told without waiting."""

    @property
    def apart(self) -> bool:
        """Whether only calls that are run ahead use it, the agent's own having one of their own."""

    async def prepare(self) -> bool:
        """Get it ready. False: there is nothing to do.

        Raises:
            PasteError, OSError: it cannot be had.
        """


@runtime_checkable
class Preparing(Backend, Protocol):
    """A backend that can get ready for a call."""

    def needs(self, invocation: Invocation) -> Iterable[Preparable]:
        """What a call needs and does not bring with it; only some of its arguments may be known. Waits for nothing."""
