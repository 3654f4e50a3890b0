"""The seam between the executor and whatever runs a tool."""

from typing import Protocol, runtime_checkable

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult


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
