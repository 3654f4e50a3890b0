"""A speculative session's messages over streamable HTTP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from paste_proxy.errors import UpstreamBusy, UpstreamFault, place_of
from paste_proxy.tools.client_fault import words_of
from paste_proxy.tools.mcp_link import Answerer, SessionGone
from paste_proxy.tools.retry_after import retry_after_s
from paste_proxy.wire.jsonrpc import Request, Response, read_message
from paste_proxy.wire.mcp_client import Outgoing
from paste_proxy.wire.sse import SseDecoder

_SILENCE_S = 120.0
"""A stream that says nothing for this long, not even a comment, is taken for dead."""
_LISTEN_S = 5.0
_GOODBYE_S = 2.0
_ACCEPT = "application/json, text/event-stream"


class HttpLink:
    """One session with the server at `url`.

    What the server asks of its own accord comes within an answer, or on the stream that `listen` opens.

    Args:
        headers: the live client's credentials and custom headers, as they are at the moment.
        answer_bytes: the largest answer that is read.
    """

    own_server = False
    closing_cancels = True

    def __init__(
        self,
        http: ClientSession,
        url: str,
        headers: Callable[[], tuple[tuple[str, str], ...]],
        answerer: Answerer,
        *,
        answer_bytes: int,
    ) -> None:
        self._http, self._url, self._headers, self._answerer = http, url, headers, answerer
        self._place = place_of(url)
        self._answer_bytes = answer_bytes
        self._sent: dict[str, str] = {}
        self.session_id: str | None = None
        self.hears_requests = False
        self._listening: asyncio.Task[None] | None = None

    async def request(self, message: Outgoing, request_id: int) -> Response:
        """Send a request; its response, from a JSON answer or out of an event stream.

        Raises:
            UpstreamFault: there is none, or a result under another status than 200: a failure, which none of ours can
                be answered with just as the server did it.
        """
        async with self._post(message) as answer:
            self.session_id = answer.headers.get("Mcp-Session-Id", self.session_id)
            if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
                raise UpstreamBusy(f"{self._place} wants fewer calls", retry_after_s(answer.headers))
            async for raw in self._messages(answer):
                match read_message(raw):
                    case Response() as response if _answers(response, request_id):
                        if response.result_raw is not None and answer.status != HTTPStatus.OK:
                            raise UpstreamFault(f"{self._place} answered with status {answer.status} and a result")
                        return response
                    case Request() as asked:
                        await self._reply(self._answerer(asked), message)
                    case _:
                        pass
            raise UpstreamFault(f"{self._place} answered with status {answer.status} and no response to the request")

    async def listen(self, opening: Outgoing) -> None:
        """Open the session's own stream; a server without one asks within its answers only."""
        answer = None
        try:
            async with asyncio.timeout(_LISTEN_S):
                answer = await self._http.get(
                    self._url,
                    headers=[*self._headers(), *opening.headers.items()],
                    timeout=ClientTimeout(total=None),
                    allow_redirects=False,
                )
        except (ClientError, OSError, TimeoutError):
            return
        streams = answer.status == 200 and answer.content_type == "text/event-stream"
        self.hears_requests = streams or answer.status == 405
        if streams:
            self._listening = asyncio.create_task(self._listen(answer, opening))
        else:
            answer.close()

    async def notify(self, message: Outgoing) -> None:
        """Send a notification; what the server answers does not matter."""
        async with self._post(message):
            pass

    async def close(self) -> None:
        """Tell the server that the session is over, where it has one."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self.session_id is None:
            return
        headers = {**dict(self._headers()), **self._sent, "Mcp-Session-Id": self.session_id}
        with contextlib.suppress(ClientError, OSError, TimeoutError):
            async with (
                asyncio.timeout(_GOODBYE_S),
                self._http.delete(self._url, headers=headers, allow_redirects=False),
            ):
                pass

    async def _listen(self, answer: ClientResponse, opening: Outgoing) -> None:
        replying = Outgoing(b"", {**opening.headers, "Accept": _ACCEPT})
        try:
            async for raw in self._messages(answer):
                match read_message(raw):
                    case Request() as asked:
                        await self._reply(self._answerer(asked), replying)
                    case _:
                        pass
        except (ClientError, OSError, UpstreamFault):
            pass
        finally:
            self.hears_requests = False
            answer.close()

    @contextlib.asynccontextmanager
    async def _post(self, message: Outgoing) -> AsyncIterator[ClientResponse]:
        had_session = "Mcp-Session-Id" in message.headers
        self._sent = {k: v for k, v in message.headers.items() if k == "MCP-Protocol-Version"}
        answer = None
        try:
            answer = await self._http.post(
                self._url,
                data=message.body,
                headers=[*self._headers(), *message.headers.items()],
                timeout=ClientTimeout(total=None, sock_read=_SILENCE_S),
                allow_redirects=False,
            )
            if answer.status == 404 and had_session:
                raise SessionGone(f"{self._place} no longer knows the speculative session")
            yield answer
        except (ClientError, OSError, TimeoutError) as fault:
            raise UpstreamFault(f"{self._place}: {words_of(fault)}") from fault
        finally:
            if answer is not None:
                answer.close()

    async def _messages(self, answer: ClientResponse) -> AsyncIterator[bytes]:
        if answer.content_type != "text/event-stream":
            body = bytearray()
            async for chunk in answer.content.iter_any():
                body += chunk
                self._bound(len(body))
            yield bytes(body)
            return
        decoder = SseDecoder(self._answer_bytes)
        async for chunk in answer.content.iter_any():
            for event in decoder.feed(chunk):
                yield event.data
            if decoder.deaf:
                self._bound(self._answer_bytes + 1)
        last = decoder.close()
        if last is not None:
            yield last.data

    def _bound(self, size: int) -> None:
        if size > self._answer_bytes:
            raise UpstreamFault(f"{self._place}: an answer of more than {self._answer_bytes} bytes is not kept")

    async def _reply(self, response: bytes, to: Outgoing) -> None:
        await self.notify(Outgoing(response, to.headers))


def _answers(response: Response, request_id: int) -> bool:
    return response.id_raw in {b"%d" % request_id, b"null"}
