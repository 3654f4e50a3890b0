"""The seam between an MCP session of ours and what carries its messages."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from paste_proxy.errors import UpstreamFault
from paste_proxy.wire.jsonrpc import Request, Response
from paste_proxy.wire.mcp_client import Outgoing

Answerer: TypeAlias = Callable[[Request], bytes]
"""Answers what the server asks of its own accord; gives the whole response message."""


class SessionGone(UpstreamFault):
    """The server no longer knows the session; the request was not carried out."""


class Link(Protocol):
    """Carries the messages of one session."""

    @property
    def session_id(self) -> str | None:
        """The `Mcp-Session-Id` that the server issued, if any."""

    @property
    def own_server(self) -> bool:
        """Whether a server of its own comes up with it, which takes its time."""

    @property
    def hears_requests(self) -> bool:
        """Whether all that the server asks of its own accord comes in by this link."""

    @property
    def closing_cancels(self) -> bool:
        """Whether giving up a stateless request takes it back, with no notification."""

    async def request(self, message: Outgoing, request_id: int) -> Response:
        """Send a request; its response.

        Raises:
            SessionGone: the session has to be made anew.
            UpstreamFault: the response cannot be had.
        """

    async def listen(self, opening: Outgoing) -> None:
        """Hear what the server sends of its own accord, where that does not come anyway. Raises nothing.

        Args:
            opening: the headers that go with it over HTTP.
        """

    async def notify(self, message: Outgoing) -> None:
        """Send a notification.

        Raises:
            UpstreamFault: it could not be sent.
        """

    async def close(self) -> None:
        """End the session. Raises nothing."""
