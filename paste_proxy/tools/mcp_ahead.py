"""The session of our own with an MCP server, open before the first call of it."""

from itertools import count

from paste_proxy.errors import UpstreamFault
from paste_proxy.speculation.preparation import Need, Preparation
from paste_proxy.tools.backend import Connecting

_numbers = count(1)


class SessionAhead:
    """A session that closes when it is idle, opened anew for a call that may come.

    Args:
        server: the server's name.
        client: whose session it is.
    """

    apart = True

    def __init__(self, server: str, client: Connecting) -> None:
        self._server, self._client = server, client
        self.need = Need(Preparation.SESSION, f"{server}: session {next(_numbers)}")

    @property
    def ready(self) -> bool:
        """Whether it is open."""
        return self._client.connected

    async def prepare(self) -> bool:
        """Start what has to be started, and open it. False: it is open.

        Raises:
            UpstreamFault: it cannot be opened.
        """
        if self._client.connected:
            return False
        await self._client.connect()
        if not self.ready:
            raise UpstreamFault(f"no session with MCP server {self._server!r} can be opened")
        return True
