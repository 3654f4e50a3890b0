"""One HTTP exchange with an MCP server as its watch is shown it: requests matched with their responses."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from paste_proxy.events.values import dumps
from paste_proxy.proxy.mcp.exchange import Exchange
from paste_proxy.proxy.mcp.ids import id_key
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.proxy.ports import Pieces, TurnTee, Waiting
from paste_proxy.wire.jsonrpc import Batch, Request, Response, Single, read_message
from paste_proxy.wire.sse import SseDecoder

Answered = Callable[[int, Mapping[str, str]], McpWatch]
"""Takes the answer's status and headers; gives the watch of the client session it belongs to."""


class McpTap:
    """Both the gate and the tee of an `Observation`.

    Args:
        answered: called when the answer begins.
        event_bytes: the largest message that is read.
    """

    def __init__(self, answered: Answered, event_bytes: int) -> None:
        self._answered, self._event_bytes = answered, event_bytes
        self._requests: list[Request] = []
        self._exchanges: dict[bytes, Exchange] = {}
        self._watch: McpWatch | None = None
        self._events: SseDecoder | None = None
        self._body = bytearray()
        self._status = int(HTTPStatus.OK)
        self._turned_away: bytes | None = None
        """The error that a server's refusal of too many requests stands for, by its status alone."""
        self.stateless = False
        """Whether its request is one of the stateless era."""
        self.subscription = False
        """Whether its answer is a stream of what the server tells of its own accord."""

    @property
    def has_calls(self) -> bool:
        """Whether a tool call waits for a response in this answer."""
        return bool(self._exchanges)

    @property
    def unanswered(self) -> tuple[bytes, ...]:
        """Raw ids of the requests that wait for a response: tool calls, and what came in one batch with them."""
        return tuple(exchange.id_raw for exchange in self._exchanges.values() if exchange.id_raw)

    def follow(self, waiting: Exchange | Request) -> None:
        """Wait for the response of this, too."""
        if isinstance(waiting, Exchange):
            twin = self._exchanges.pop(id_key(waiting.id_raw), None)
            if twin is not None:
                twin.over(None)
            self._exchanges[id_key(waiting.id_raw)] = waiting
        else:
            self._requests.append(waiting)

    def opened(
        self,
        *,
        wire: str,
        target: str,
        headers: Mapping[str, str],
        body: Pieces | None,
        waiting: Waiting | None = None,
    ) -> TurnTee:
        """The request went out; none of MCP's waits."""
        return self

    def sent(self) -> None:
        """As when it was opened."""

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        """The answer begins: a JSON text or an event stream."""
        self._watch, self._status = self._answered(status, headers), status
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            self._turned_away = _error(status, headers.get("Retry-After", ""))
        for request in self._requests:
            exchange = self._watch.begin(request)
            if exchange is not None:
                self._exchanges[id_key(request.id_raw)] = exchange
        if headers.get("Content-Type", "").lower().startswith("text/event-stream"):
            self._events = SseDecoder(self._event_bytes)

    def chunk(self, data: bytes) -> None:
        """More of the answer."""
        if self._events is not None:
            for event in self._events.feed(data):
                self._message(event.data)
        elif len(self._body) <= self._event_bytes:
            self._body += data

    def closed(self, *, clean: bool, whole: bool = True) -> None:
        """The answer ended: what has no response by now gets none."""
        if self._events is not None:
            last = self._events.close()
            if last is not None:
                self._message(last.data)
        elif clean and whole and 0 < len(self._body) <= self._event_bytes:
            self._message(bytes(self._body))
        self.end()

    def end(self) -> None:
        """Nothing more comes."""
        error = self._turned_away
        for exchange in self._exchanges.values():
            exchange.over(None if error is None else Response(exchange.id_raw, None, error))

    def _message(self, raw: bytes) -> None:
        message = read_message(raw)
        for single in message.messages if isinstance(message, Batch) else (message,):
            self._single(single)

    def _single(self, message: Single) -> None:
        if self._watch is None:
            return
        exchange = self._exchanges.pop(id_key(message.id_raw), None) if isinstance(message, Response) else None
        if exchange is not None and isinstance(message, Response):
            exchange.over(self._meant(message))
        else:
            self._watch.server_sent(message)

    def _meant(self, response: Response) -> Response:
        """What a response comes to: a result under the status of a failure answers nobody else."""
        if self._status == HTTPStatus.OK or response.result_raw is None:
            return response
        return Response(response.id_raw, None, _error(self._status))


def _error(status: int, retry_after: str = "") -> bytes:
    said = f"; Retry-After: {retry_after}" if retry_after else ""
    return dumps({"code": status, "message": f"HTTP status {status}{said}"})
