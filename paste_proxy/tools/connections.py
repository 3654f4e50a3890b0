"""A pool of connections in which one may lie over which nothing has been sent yet.

aiohttp opens a connection when a request needs it; here one can be opened ahead of any. A server that hears nothing
closes its side after ten seconds or so, some with a word (a 408) that would be taken for the answer of whatever is
asked next. So a connection lies here for less, and is not used once anything has come over it.
"""

import asyncio
from itertools import count
from ssl import SSLContext
from time import monotonic

from aiohttp import ClientRequest, ClientTimeout, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

KEPT_S = 8.0
_CONNECT = ClientTimeout(total=10.0, sock_connect=10.0)
_numbers = count(1)


class Connections(TCPConnector):
    """A pool without a bound: how many calls a service takes at once is for the configuration to say.

    Args:
        keepalive_s: seconds for which a connection is kept after a request.
        ssl: what certificates are checked with; None: the system's.
    """

    def __init__(self, *, keepalive_s: float = 15.0, ssl: SSLContext | None = None) -> None:
        super().__init__(limit=0, keepalive_timeout=keepalive_s, ssl=ssl or True)
        self.number = next(_numbers)
        """Tells it from other pools."""
        self._keepalive_s = keepalive_s
        self._unused: dict[ConnectionKey, tuple[ResponseHandler, asyncio.TimerHandle]] = {}
        self._opening: set[ConnectionKey] = set()

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout) -> Connection:
        """A connection for a request."""
        connection = await super().connect(req, traces, timeout)
        taken = self._taken(req.connection_key, connection) if self._unused else None
        if taken is not None and taken.should_close:  # something came that nobody asked for
            connection.close()
            connection = await super().connect(req, traces, timeout)
        return connection

    async def open_ahead(self, req: ClientRequest) -> bool:
        """Open what a request would need, which itself is not sent. False: there is one, used or not.

        Raises:
            ClientError, OSError, TimeoutError: it cannot be opened.
        """
        key = req.connection_key
        if key in self._opening or self._lies(key):
            return False
        self._opening.add(key)
        try:
            connection = await super().connect(req, [], _CONNECT)
        finally:
            self._opening.discard(key)
        protocol = connection.protocol
        assert protocol is not None
        timer = asyncio.get_running_loop().call_later(KEPT_S, self._unheeded, key, protocol)
        self._unused[key] = protocol, timer
        connection.release()
        return True

    def unused(self, host: str, port: int, *, tls: bool) -> bool:
        """Whether a connection there that was opened ahead lies here."""
        wanted = host, port, tls
        return any(
            (key.host, key.port, key.is_ssl) == wanted and protocol.is_connected() and not protocol.should_close
            for key, (protocol, _) in self._unused.items()
        )

    def _lies(self, key: ConnectionKey) -> bool:
        """Whether a connection lies there that will not soon be too old."""
        oldest = monotonic() - self._keepalive_s + KEPT_S
        return any(protocol.is_connected() and since >= oldest for protocol, since in self._conns.get(key, ()))

    def _taken(self, key: ConnectionKey, connection: Connection) -> ResponseHandler | None:
        """A request has this connection now; the one that was opened ahead, if it is that."""
        protocol, timer = self._unused.get(key, (None, None))
        if protocol is None or protocol is not connection.protocol:
            return None
        assert timer is not None
        timer.cancel()
        del self._unused[key]
        return protocol

    def _unheeded(self, key: ConnectionKey, protocol: ResponseHandler) -> None:
        """Nobody has used it."""
        if self._unused.get(key, (None,))[0] is protocol:
            del self._unused[key]
            protocol.close()
