"""Forwards a tool call over HTTP for as long as its answer is not silent for too long; see `silence`."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from aiohttp import ClientError, web
from yarl import URL

from paste_proxy.proxy.http.headers import request_headers
from paste_proxy.proxy.http.observation import Observation
from paste_proxy.proxy.http.relay import Relay
from paste_proxy.proxy.mcp.served import Form
from paste_proxy.proxy.mcp.sessions import SESSION_ID
from paste_proxy.proxy.mcp.silence import Silence, no_answer, taking_back
from paste_proxy.proxy.mcp.tap import McpTap
from paste_proxy.wire.mcp import sse_message

_BEGUN = web.RequestKey("mcp_answer_begun", web.StreamResponse)
_OF_THE_BODY = {"content-length", "content-encoding", "transfer-encoding", "expect"}
_TELL_S = 5.0


async def note_answer(request: web.Request, response: web.StreamResponse) -> None:
    """For the application's `on_response_prepare`: remembers the answer that has begun."""
    request[_BEGUN] = response


class Heard(Observation):
    """An observation that notes when something came, and whether it left an event unfinished."""

    silence: Silence | None = None
    _tail = b"\n\n"

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        """See `Observation.answer`."""
        if self.silence is not None:
            self.silence.heard()
        super().answer(status, headers)

    def chunk(self, data: bytes) -> None:
        """See `Observation.chunk`."""
        if self.silence is not None:
            self.silence.heard()
        self._tail = (self._tail + data[-4:])[-4:]
        super().chunk(data)

    @property
    def between_events(self) -> bool:
        """Whether another event could follow what was passed on."""
        return self._tail.endswith((b"\n\n", b"\r\r", b"\r\n\r\n"))


class Patience:
    """Ends calls that stay unanswered.

    Args:
        server: its name, for people.
        limit_s: see `Silence`.
    """

    def __init__(self, relay: Relay, server: str, limit_s: float) -> None:
        self._relay, self._server, self._limit_s = relay, server, limit_s
        self._telling: set[asyncio.Task[None]] = set()

    async def forward(
        self, request: web.Request, target: str, seen: Heard, tap: McpTap, head: bytes
    ) -> web.StreamResponse:
        """As `Relay.forward`, but for a call whose answer is silent too long an error is its answer."""
        limit = asyncio.timeout(None)

        def over() -> None:
            if _client_reads(request):
                limit.reschedule(0)
            elif seen.silence is not None:
                seen.silence.heard()

        seen.silence = Silence(self._limit_s, over)
        unanswered: tuple[bytes, ...] = ()
        try:
            async with limit:
                try:
                    return await self._relay.forward(request, target, seen, head=head)
                finally:
                    unanswered = tap.unanswered
        except TimeoutError:
            if not limit.expired():
                raise
        finally:
            seen.silence.stop()
        return await self._give_up(request, target, seen, unanswered)

    async def close(self) -> None:
        """Wait until servers have been told what was given up."""
        await asyncio.gather(*self._telling, return_exceptions=True)

    async def _give_up(
        self, request: web.Request, target: str, seen: Heard, unanswered: tuple[bytes, ...]
    ) -> web.StreamResponse:
        if SESSION_ID in request.headers:
            for id_raw in unanswered:
                task = asyncio.create_task(self._take_back(request, target, id_raw))
                self._telling.add(task)
                task.add_done_callback(self._telling.discard)
        errors = [no_answer(id_raw, self._server, self._limit_s) for id_raw in unanswered]
        begun: web.StreamResponse | None = request.get(_BEGUN)
        if begun is None:
            return _error_answer(request, errors)
        form = begun.headers.get("Content-Type", "")
        if seen.between_events and form.startswith(Form.EVENTS.value) and "Content-Encoding" not in begun.headers:
            with suppress(ConnectionError):
                for error in errors:
                    await begun.write(sse_message(error))
                await begun.write_eof()
        elif request.transport is not None:
            request.transport.close()
        return begun

    async def _take_back(self, request: web.Request, target: str, id_raw: bytes) -> None:
        """Tell the server, in the client's session. Elsewhere the closed connection says it."""
        headers = [
            (name, value) for name, value in request_headers(request.raw_headers) if name.lower() not in _OF_THE_BODY
        ]
        with suppress(ClientError, OSError, TimeoutError):
            async with (
                asyncio.timeout(_TELL_S),
                self._relay.session.post(
                    URL(target, encoded=True), data=taking_back(id_raw), headers=headers, allow_redirects=False
                ),
            ):
                pass


def _client_reads(request: web.Request) -> bool:
    """Whether all that came has been taken: else it is the client that holds the answer up."""
    transport = request.transport
    return transport is None or transport.get_write_buffer_size() == 0


def _error_answer(request: web.Request, errors: list[bytes]) -> web.Response:
    if Form.JSON.accepted(request):
        body = errors[0] if len(errors) == 1 else b"[" + b",".join(errors) + b"]"
        return web.Response(body=body, headers={"Content-Type": Form.JSON.value})
    return web.Response(
        body=b"".join(map(sse_message, errors)),
        headers={"Content-Type": Form.EVENTS.value, "Cache-Control": "no-cache, no-transform"},
    )
