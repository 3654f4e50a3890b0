"""The way to one upstream, and how it is opened ahead of a call."""

from typing import NoReturn

from aiohttp import ClientError, ClientHandlerType, ClientRequest, ClientSession
from yarl import URL

from paste_proxy.errors import UpstreamFault, place_of
from paste_proxy.speculation.preparation import Need, Preparation
from paste_proxy.tools.client_fault import words_of
from paste_proxy.tools.connections import Connections
from paste_proxy.tools.loopback import is_loopback


class Approach:
    """A connection as the calls of an HTTP client's session use it.

    Args:
        session: whose connections the calls use.
        url: where the calls go.
        proxy: what they go through, beside what the session says.
    """

    apart = False

    def __init__(self, session: ClientSession, url: str, proxy: str | None = None) -> None:
        self._session, self._url, self._proxy = session, url, proxy
        self._to = URL(url, encoded=True)
        pool = session.connector
        self._pool = pool if isinstance(pool, Connections) else None
        number = self._pool.number if self._pool else 0
        self.need = Need(Preparation.CONNECTION, f"{self._to.scheme}://{self._to.host}:{self._to.port} of {number}")

    @property
    def pays(self) -> bool:
        """Not in a pool that cannot; nor without TLS on this machine, where it takes no time, and a server that serves
        one connection after the other would wait for this one."""
        far = self._tls or self._proxy is not None or not is_loopback(self._to.raw_host or "")
        return self._pool is not None and far

    @property
    def ready(self) -> bool:
        """Whether a connection that was opened ahead lies there, unused."""
        if self._pool is None or self._to.port is None:
            return False
        return self._pool.unused(self._to.raw_host or "", self._to.port, tls=self._tls)

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
        raise _Stopped(opened=self._pool is not None and await self._pool.open_ahead(request))

    @property
    def _tls(self) -> bool:
        return self._to.scheme == "https"


class _Stopped(Exception):
    def __init__(self, *, opened: bool) -> None:
        self.opened = opened
