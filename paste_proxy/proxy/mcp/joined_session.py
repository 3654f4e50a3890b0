"""The client session of a stdio client with `/mcp/NAME` of a running sidecar, kept beside its messages.

A session that the other side has forgotten (it was restarted) is opened anew with the client's own words,
and the message that met the 404 is sent once more: it was not carried out.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
    TraceConfig,
)

from paste_proxy.errors import UpstreamFault
from paste_proxy.wire.jsonrpc import Request, Response, on_one_line, read_message
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read, string
from paste_proxy.wire.mcp_client import header_value, stateless_headers
from paste_proxy.wire.mcp_tools import ListedTool
from paste_proxy.wire.sse import SseDecoder

SESSION_ID = "Mcp-Session-Id"
_CONTENT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_ANSWER_BYTES = 2**31
_GOODBYE_S = 2.0

UNCERTAIN = "the call may have been carried out, so look before you make it again"
"""What is to be said of a call that was sent and has no response."""


def sent_tracing() -> TraceConfig:
    """Sets the event given as a request's `trace_request_ctx` once its body is on the way."""
    tracing = TraceConfig()

    async def sent(_: object, context: object, __: object) -> None:
        event = getattr(context, "trace_request_ctx", None)
        if isinstance(event, asyncio.Event):
            event.set()

    tracing.on_request_chunk_sent.append(sent)
    return tracing


class JoinedSession:
    """Messages out, messages in, each the bytes of one.

    Args:
        http: made with `sent_tracing`.
    """

    def __init__(self, http: ClientSession, url: str) -> None:
        self._http, self._url = http, url
        self._opening = asyncio.Lock()
        self._introduction: bytes | None = None
        self._session: dict[str, str] = {}
        self._stream: ClientResponse | None = None
        """The session's own, while it is read."""
        self._deaf: Mapping[str, str] | None = None
        """The session that has no stream of its own."""
        self._tools: dict[str, ListedTool] = {}

    @property
    def open(self) -> bool:
        """Whether there is a session, with a stream of its own."""
        return SESSION_ID in self._session

    def listed(self, tools: tuple[ListedTool, ...]) -> None:
        """The server listed these tools; over HTTP some of their arguments go into headers."""
        self._tools |= {tool.name: tool for tool in tools}

    async def introduce(self, line: bytes) -> AsyncGenerator[bytes]:
        """Open the session with the client's `initialize`; gives what is answered."""
        self._introduction, self._session = line, {}
        async with self._post(line, {}) as answer:
            async for raw in _messages(answer):
                self._agreed(answer, raw)
                yield raw

    async def ask(self, line: bytes, stateless: Request | None, sent: asyncio.Event) -> AsyncGenerator[bytes]:
        """Send a message; gives what is answered, until the answer ends.

        Args:
            stateless: the message, where it is a request of the stateless era.
            sent: set once the message is on its way.

        Raises:
            UpstreamFault: the sidecar cannot be reached, or broke off.
        """
        for again in (False, True):
            session = self._session
            headers = self._repeated(stateless) if stateless else session
            async with self._post(line, headers, sent) as answer:
                if answer.status == 404 and SESSION_ID in headers and not again:
                    await self._reopen(session)
                    continue
                async for raw in _messages(answer):
                    yield raw
                return

    async def listen(self) -> AsyncGenerator[bytes]:
        """What the server sends of its own accord, until the stream ends."""
        session = self._session
        if session is self._deaf:
            return
        headers = {**session, "Accept": "text/event-stream"}
        with suppress(ClientError, OSError, TimeoutError):
            async with self._http.get(self._url, headers=headers, allow_redirects=False) as answer:
                if answer.status == 200:
                    self._stream = answer
                    async for raw in _messages(answer):
                        yield raw
                else:
                    self._deaf = session

    async def close(self) -> None:
        """End the session. Raises nothing."""
        if self.open:
            with suppress(ClientError, OSError, TimeoutError):
                async with asyncio.timeout(_GOODBYE_S), self._http.delete(self._url, headers=self._session):
                    pass

    async def _reopen(self, forgotten: Mapping[str, str]) -> None:
        async with self._opening:
            if self._session is not forgotten or self._introduction is None:
                return
            if self._stream is not None:
                self._stream.close()
            async with self._post(self._introduction, {}) as answer:
                async for raw in _messages(answer):
                    self._agreed(answer, raw)
            async with self._post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', self._session):
                pass

    def _agreed(self, answer: ClientResponse, raw: bytes) -> None:
        message = read_message(raw)
        if isinstance(message, Response) and message.result_raw is not None:
            version = string(read((members(message.result_raw) or {}).get("protocolVersion", b"")))
            own = {"MCP-Protocol-Version": version} if version else {}
            issued = answer.headers.get(SESSION_ID)
            self._session = {**own, **({SESSION_ID: issued} if issued else {})}

    def _repeated(self, request: Request) -> dict[str, str]:
        called = string(read((members(request.params_raw or b"") or {}).get("name", b"")))
        tool = self._tools.get(called) if request.method == "tools/call" else None
        return {name: header_value(text) for name, text in stateless_headers(request, tool).items()}

    @asynccontextmanager
    async def _post(
        self, line: bytes, headers: Mapping[str, str], sent: asyncio.Event | None = None
    ) -> AsyncIterator[ClientResponse]:
        try:
            async with self._http.post(
                self._url,
                data=line.strip(),
                headers={**_CONTENT, **headers},
                timeout=ClientTimeout(total=None),
                allow_redirects=False,
                trace_request_ctx=sent,
            ) as answer:
                yield answer
        except (ClientConnectorError, ConnectionTimeoutError) as fault:
            raise UpstreamFault(
                f"the sidecar at {self._url} cannot be reached ({fault or type(fault).__name__}); nothing was sent "
                "to the server; start the sidecar again and make the call anew"
            ) from fault
        except (ClientError, OSError, TimeoutError) as fault:
            raise UpstreamFault(
                f"the sidecar at {self._url} ended or broke off before it answered ({fault or type(fault).__name__}); "
                f"{UNCERTAIN}; once the sidecar runs again, calls go through"
            ) from fault


async def _messages(answer: ClientResponse) -> AsyncGenerator[bytes]:
    """Each message as one line, with its end."""
    if answer.content_type != "text/event-stream":
        body = await answer.read()
        if body.strip():
            yield on_one_line(body.strip())
        return
    decoder = SseDecoder(_ANSWER_BYTES)
    async for chunk in answer.content.iter_any():
        for event in decoder.feed(chunk):
            if event.data:
                yield on_one_line(event.data)
