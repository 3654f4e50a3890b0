"""Forwards any HTTP request to an upstream, byte for byte.

Only hop-by-hop headers change. Each chunk is written to the client before the observer sees it. An
answer that the upstream cuts reaches the client cut, never as a clean end; a client that goes takes its
upstream request with it, since the server cancels the task that runs here.
"""

from collections.abc import AsyncIterator

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientHttpProxyError,
    ClientResponse,
    ClientResponseError,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    HttpVersion11,
    ServerTimeoutError,
    StreamReader,
    web,
)
from aiohttp.client_proto import ResponseHandler
from multidict import CIMultiDict
from yarl import URL

from paste_proxy.proxy.http.begun import Begun
from paste_proxy.proxy.http.breaks import breaks_heard, next_chunk, reset
from paste_proxy.proxy.http.headers import request_headers, response_headers
from paste_proxy.proxy.http.observation import Observation
from paste_proxy.proxy.http.outgoing import Outgoing, as_written
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.http.tunnel import is_upgrade, tunnel, upgrade_headers
from paste_proxy.proxy.http.upload import Upload, upload_of
from paste_proxy.proxy.outages import Outages
from paste_proxy.tools.connections import Connections

READ_BUFFER_BYTES = 2**18
LONGEST_HEADER_BYTES = 2**16
MOST_HEADERS = 512
_SWITCHING = 101
_CODINGS, _LENGTH = "accept-encoding", "content-length"
_CONNECT_S = 30.0
_POOL_IDLE_S = 30.0
_ADDED_BY_SERVER = ("Content-Type", "Date", "Server")


def upstream_session(proxy: str | None = None) -> ClientSession:
    """A client that adds nothing, follows nothing, decodes nothing and waits as long as its caller does.

    Args:
        proxy: the address of an HTTP proxy to go through; those that the environment names are never used.
    """
    return ClientSession(
        proxy=proxy,
        request_class=Outgoing,
        connector=Connections(keepalive_s=_POOL_IDLE_S),
        cookie_jar=DummyCookieJar(),
        timeout=ClientTimeout(total=None, sock_connect=_CONNECT_S),
        skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        auto_decompress=False,
        trust_env=False,
        read_bufsize=READ_BUFFER_BYTES,
        max_line_size=LONGEST_HEADER_BYTES,
        max_field_size=LONGEST_HEADER_BYTES,
        max_headers=MOST_HEADERS,
    )


class Relay:
    """Forwards requests through one pool of upstream connections.

    Args:
        keep: bytes of a request that may be copied for the observer.
        named: where the configuration names an upstream, for people.
        proxy: the address of an HTTP proxy that its requests go through.
    """

    def __init__(self, *, keep: int, named: str = "the route's `upstream`", proxy: str | None = None) -> None:
        self._keep, self._named, self._proxy = keep, named, proxy
        self.outages = Outages()
        self._session: ClientSession | None = None

    async def pooling(self, _: web.Application) -> AsyncIterator[None]:
        """Cleanup context: hold the pool for as long as the application lives."""
        async with upstream_session(self._proxy) as self._session:
            yield

    @property
    def session(self) -> ClientSession:
        """The pool; only while it is held."""
        if self._session is None:
            raise RuntimeError("the relay is used outside its application's lifetime")
        return self._session

    async def forward(
        self,
        request: web.Request,
        target: str,
        seen: Observation | None = None,
        *,
        head: bytes = b"",
        body: bytes | None = None,
        begun: Begun | None = None,
    ) -> web.StreamResponse:
        """Send the request to `target`, an absolute URL taken as it is written, and pass the answer on.

        Args:
            head: what a route has already taken from the body.
            body: all of it, where a route has taken that and may have changed it.
            begun: the stream that the client has been given already; the answer goes into it.
        """
        clean = False
        headers = request_headers(request.raw_headers)
        if body is not None and len(body) != (request.content_length or len(body)):
            headers = [(name, str(len(body)) if name.lower() == _LENGTH else value) for name, value in headers]
        if begun is not None:
            headers = [*(one for one in headers if one[0].lower() != _CODINGS), (_CODINGS, "identity")]
        if is_upgrade(request):
            headers += upgrade_headers(request.headers["Upgrade"])
        try:
            sent = seen.sent if seen is not None else None
            if body is None or not request.body_exists:
                upload = await upload_of(request, self._keep, sent, head)
            else:
                upload = Upload(body, None if request.content_length is None else len(body), 0, sent)
            try:
                answer = await self.session.request(
                    request.method,
                    as_written(target),
                    headers=headers,
                    data=upload,
                    allow_redirects=False,
                )
            except (ClientError, OSError, ValueError) as fault:
                refused = self._no_answer(target, fault, upload)
                return refused if begun is None else await begun.refuse(refused.status, _bytes_of(refused))
            try:
                if answer.status == _SWITCHING:
                    return await self._switch(request, answer, target)
                response, clean = await _pass_on(request, answer, seen, begun)
            finally:
                if not clean:
                    answer.close()
            return response
        finally:
            if seen is not None:
                seen.closed(clean=clean)

    async def _switch(self, request: web.Request, answer: ClientResponse, target: str) -> web.StreamResponse:
        """Both sides leave HTTP, if the client asked for it."""
        upstream = str(URL(target, encoded=True).origin())
        if not is_upgrade(request):
            return refusal(502, "upstream_not_http", f"{upstream} switched protocols without being asked to")
        response = Relayed(answer)
        for name, value in upgrade_headers(answer.headers.get("Upgrade", request.headers["Upgrade"])):
            response.headers.add(name, value)
        response.force_close()
        await response.prepare(request)
        await tunnel(request, response, answer, upstream)
        return response

    def _no_answer(self, target: str, fault: Exception, upload: Upload | None) -> web.Response:
        upstream = URL(target, encoded=True).origin()
        if upload is not None and upload.client_fault is not None:
            return refusal(400, "request_broken", f"the request's body broke off: {upload.client_fault}", close=True)
        match fault:
            case ClientConnectorError() | ServerTimeoutError():
                code, why = "upstream_unreachable", f"cannot be reached: {fault}"
                what = f"{upstream} {why}; check {self._named} in the configuration"
            case ClientHttpProxyError():
                code, why = "proxy_refused", f"the proxy on the way to it refused with status {fault.status}"
                what = f"{upstream} cannot be reached: {why}"
            case ClientResponseError():
                code, why = "upstream_not_http", "answered something that is not HTTP"
                what = f"{upstream} {why}: {fault.message}"
            case ClientError() | OSError():
                code, why = "upstream_closed", f"closed the connection before it answered ({type(fault).__name__})"
                what = f"{upstream} {why}"
            case _:
                return refusal(400, "request_not_forwardable", f"the request cannot be sent on to {upstream}: {fault}")
        self.outages.warn(str(upstream), why)
        return refusal(502, code, what)


class Relayed(web.StreamResponse):
    """An answer of the upstream; `shed` takes away what the server adds to answers of its own."""

    def __init__(self, answer: ClientResponse) -> None:
        headers = CIMultiDict(response_headers(answer.raw_headers))
        super().__init__(status=answer.status, reason=answer.reason, headers=headers)
        self._added = [name for name in _ADDED_BY_SERVER if name not in headers]

    def shed(self) -> None:
        """Leave only the upstream's own headers."""
        for name in self._added:
            self.headers.popall(name, None)


async def shed_own_headers(_: web.BaseRequest, response: web.StreamResponse) -> None:
    """For the application's `on_response_prepare`."""
    if isinstance(response, Relayed):
        response.shed()


async def _pass_on(
    request: web.Request, answer: ClientResponse, seen: Observation | None, begun: Begun | None
) -> tuple[web.StreamResponse, bool]:
    """The answer to the client, and whether both sides saw it to its end."""
    content, connection = answer.content, answer.connection
    upstream = connection.protocol if connection is not None else None
    response = begun or Relayed(answer)
    if is_upgrade(request):
        response.force_close()  # the server reads no further request on a connection that was to leave HTTP
    if request.version < HttpVersion11 and answer.content_length is None:
        response.force_close()  # its end is all that shows where the body ends
    try:
        if begun is None:
            await response.prepare(request)
        if seen is not None:
            seen.answer(answer.status, answer.headers)
        with breaks_heard(upstream, content):
            passed = begun.take(answer, seen) if begun is not None else _pump(content, response, seen)
            if not await passed or isinstance(_end_of(upstream), OSError):
                _break_off(request)
                return response, False
        await response.write_eof()
    except ConnectionError:
        return response, False
    return response, True


def _bytes_of(response: web.Response) -> bytes:
    body = response.body
    return body if isinstance(body, bytes) else b""


async def _pump(content: StreamReader, response: web.StreamResponse, seen: Observation | None) -> bool:
    """The body to the client, each piece before the observer sees it; whether the upstream sent it to its end."""
    while True:
        chunk, cut = await next_chunk(content)
        if chunk:
            await response.write(chunk)
            if seen is not None:
                seen.chunk(chunk)
        if cut or not chunk:
            return not cut


def _end_of(upstream: ResponseHandler | None) -> BaseException | None:
    """How the connection ended. An answer without a length ends with it: only a reset tells a cut from an end."""
    return upstream.exception() if upstream is not None else None


def _break_off(request: web.Request) -> None:
    """End the client's connection so that it sees a broken answer, after what is written already."""
    transport = request.transport
    if transport is None:
        return
    if request.version >= HttpVersion11:
        transport.close()  # the missing last chunk, or the missing rest of the length, says it
        return
    reset(transport)
