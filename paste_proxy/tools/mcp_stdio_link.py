"""A speculative session's messages over the stdin and stdout of a server process of its own."""

import asyncio

from paste_proxy.errors import UpstreamFault
from paste_proxy.tools.mcp_link import Answerer, SessionGone
from paste_proxy.tools.mcp_peer import Peer
from paste_proxy.wire.jsonrpc import Request, Response, on_one_line, read_message
from paste_proxy.wire.mcp_client import Outgoing


class StdioLink:
    """One session with a running server, which ends with it."""

    own_server = True
    hears_requests = True
    closing_cancels = False
    session_id = None

    def __init__(self, child: Peer, answerer: Answerer) -> None:
        self._child, self._answerer = child, answerer
        self._waiting: dict[bytes, asyncio.Future[Response | None]] = {}
        """By id; None: the server ended without an answer. A fault kept here might find nobody to take it."""
        self._gone = False
        self._reader = asyncio.create_task(self._read())

    async def request(self, message: Outgoing, request_id: int) -> Response:
        """Send a request; its response."""
        if self._gone:
            raise SessionGone("the server process has ended")
        key = b"%d" % request_id
        answer: asyncio.Future[Response | None] = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        try:
            await self._child.send(on_one_line(message.body))
            response = await answer
        finally:
            del self._waiting[key]
        if response is None:
            raise UpstreamFault("the server process ended before it answered")
        return response

    async def listen(self, opening: Outgoing) -> None:
        """All that the server sends comes the same way."""

    async def notify(self, message: Outgoing) -> None:
        """Send a notification."""
        await self._child.send(on_one_line(message.body))

    async def close(self) -> None:
        """End the server."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._child.close()
        self._child.release()

    async def _read(self) -> None:
        try:
            async for line in self._child.lines():
                match read_message(line):
                    case Response() as response:
                        waiting = self._waiting.get(response.id_raw)
                        if waiting is not None and not waiting.done():
                            waiting.set_result(response)
                    case Request() as asked:
                        await self._child.send(self._answerer(asked))
                    case _:
                        pass
        except UpstreamFault:
            pass
        finally:
            self._gone = True
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_result(None)
