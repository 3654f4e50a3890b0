"""The way to one upstream, and how it is opened ahead of a call."""

from typing import NoReturn
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientHandlerType, ClientRequest, ClientSession
from aiohttp.client_reqrep import ConnectionKey

from paste_proxy.errors import UpstreamFault, place_of
from paste_proxy.speculation.preparation import Need, Preparation
from paste_proxy.tools.client_fault import words_of
from paste_proxy.tools.connections import Connections
from paste_proxy.tools.loopback import is_loopback


class Approach:
    """A connection as the calls of an HTTP client's session use it.

    Args:
        session: whose connections the calls use; nothing is opened ahead unless they are `Connections`.
        url: where the calls go.
        proxy: what they go through, beside what the session says.
    """

    apart = False

    def __init__(self, session: ClientSession, url: str, proxy: str | None = None) -> None:
        self._session, self._url, self._proxy = session, url, proxy
        self._key: ConnectionKey | None = None
        self.need = Need(Preparation.CONNECTION, _origin(url))

    @property
    def ready(self) -> bool:
        """Whether a connection that was opened ahead lies there, unused."""
        pool = self._session.connector
        return self._key is not None and isinstance(pool, Connections) and pool.unused(self._key)

    @property
    def pays(self) -> bool:
        """Not without TLS on this machine: that takes no time, and a server that serves one connection after the other
        would wait for this one."""
        if not isinstance(self._session.connector, Connections):
            return False
        parts = urlsplit(self._url)
        return parts.scheme == "https" or self._proxy is not None or not is_loopback(parts.hostname or "")

    async def prepare(self) -> bool:
        """Open a connection, over which nothing is sent. False: there is one.

        Raises:
            UpstreamFault: it cannot be opened.
        """
        opened = False
        try:
            await self._session.head(self._url, proxy=self._proxy, middlewares=(self._only_connect,))
        except _Stopped as stopped:
            opened = stopped.opened
        except (ClientError, OSError, ValueError) as fault:
            raise UpstreamFault(f"{place_of(self._url)} cannot be reached ({words_of(fault)})") from fault
        return opened

    async def _only_connect(self, request: ClientRequest, _: ClientHandlerType) -> NoReturn:
        """The session has made a request as it makes every one; it goes no further than to its connection."""
        pool = self._session.connector
        assert isinstance(pool, Connections)
        self._key = request.connection_key
        raise _Stopped(opened=await pool.open_ahead(request))


class _Stopped(Exception):
    def __init__(self, *, opened: bool) -> None:
        self.opened = opened


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
