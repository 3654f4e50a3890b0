"""Watches LLM exchanges: reads request and answer with the route's wire and tells the hub.

Bodies up to a bound are read where they are; larger ones in a worker process, since parsing holds the
interpreter and would stall every stream.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count

import structlog

from paste_proxy.clock import Clock
from paste_proxy.proxy.http.opting_out import opts_out
from paste_proxy.proxy.hub.observed import (
    AnswerBegins,
    AnswerNamed,
    AnswerSeen,
    CallSeen,
    Exchange,
    ExchangeOver,
    LimitsSeen,
    Observed,
    PartSeen,
    RequestSeen,
    RequestUnread,
    Tunnel,
)
from paste_proxy.proxy.hub.reader_process import ReaderProcess, read_request
from paste_proxy.proxy.hub.reading import Reading
from paste_proxy.proxy.ports import Pieces, TurnTee, Waiting
from paste_proxy.speculation.types import ObservationLost
from paste_proxy.turns.rate_limits import read_limits
from paste_proxy.wire.protocols import WIRES
from paste_proxy.wire.types import AnswerReader, TurnEnd, Wire

log = structlog.get_logger(__name__)

_LATER_S = 0.002
"""A request is read this long after it has gone upstream: no LLM answers sooner, and whatever the loop has
to pass on by then goes first."""

_PIECE = b"data:"
"""Begins a line of an event stream that holds a part of the answer."""

Post = Callable[[Observed], None]


class TurnWatch:
    """A `TurnGate` that puts what it reads into the hub's inbox."""

    def __init__(
        self,
        post: Post,
        clock: Clock,
        *,
        session_headers: tuple[str, ...],
        inline_bytes: int,
        fault: Callable[[str], None],
        prompt_chars: int = 0,
    ) -> None:
        self._post, self._clock, self._fault = post, clock, fault
        self._prompt_chars = prompt_chars
        self._session_headers = session_headers
        self._inline_bytes = inline_bytes
        self._elsewhere = ReaderProcess(prompt_chars)
        self._tunnels = count(1)
        self._reading: set[asyncio.Task[None]] = set()
        self._behind: set[_Watched] = set()
        """Exchanges of which something was passed on and not read yet."""
        self.enters: Callable[[Exchange], None] = lambda exchange: None
        """Asked of a turn that waits before it is read: it may go, whoever's it is."""

    def catch_up(self) -> None:
        """Read now what has been passed on: somebody may be acting on it already. Raises nothing."""
        for exchange in list(self._behind):
            exchange.catch_up()

    def opened(
        self,
        *,
        wire: str,
        target: str,
        headers: Mapping[str, str],
        body: Pieces | None,
        waiting: Waiting | None = None,
    ) -> TurnTee:
        """A request went upstream, or stands before a gate; see `TurnGate`."""
        exchange = _Watched(self, WIRES[wire], ahead=not opts_out(headers.items()), waiting=waiting)
        if waiting is not None and not waiting.tells:
            self.enters(exchange)
        if body is None:
            exchange.blind = True
            exchange.read(None, None)
            return exchange
        header = next((headers[name] for name in self._session_headers if name in headers), None)
        exchange.reading = True
        if sum(map(len, body)) <= self._inline_bytes:
            read = partial(self._read_here, exchange, wire, target, header, b"".join(body))
            if waiting is None:
                exchange.read_later(read)
            elif waiting.entry.done():
                exchange.read_when_sent(read)
            else:
                read()
        else:
            task = asyncio.create_task(self._read_elsewhere(exchange, wire, target, header, body))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)
        return exchange

    async def _read_elsewhere(
        self, exchange: "_Watched", wire: str, target: str, header: str | None, body: Pieces
    ) -> None:
        read = None
        try:
            read = await self._elsewhere.read(wire, target, body)
        except Exception as fault:  # noqa: BLE001 - whatever broke over there, forwarding goes on unobserved
            self._broke(fault)
            exchange.blind = True
        exchange.read(read, header)

    def _read_here(self, exchange: "_Watched", wire: str, target: str, header: str | None, body: bytes) -> None:
        read = None
        try:
            read = read_request(wire, target, body, self._prompt_chars)
        except Exception as fault:  # noqa: BLE001 - the wire's readers raise nothing; should one, the turn is unseen
            self._broke(fault)
            exchange.blind = True
        exchange.read(read, header)

    def tunnelled(self) -> Callable[[], None]:
        """A connection whose turns cannot be read is open; see `TurnGate`."""
        number = next(self._tunnels)
        self._post(Tunnel(number, open=True))
        return partial(self._post, Tunnel(number, open=False))

    def _broke(self, fault: Exception) -> None:
        self._fault("request_reader")
        log.warning("request_reader_fault", fault=repr(fault))

    async def close(self) -> None:
        """Stop reading."""
        reading = list(self._reading)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        await self._elsewhere.close()


class _Watched(Exchange):
    """The tee of one exchange. What the answer says is held back until the request is read.

    Chunks are read together, a moment after the first of them: one that follows at once is passed on before
    anybody looks at the one before.
    """

    __slots__ = (
        "_act",
        "_answered",
        "_arrived",
        "_begun",
        "_held",
        "_named",
        "_reader",
        "_started",
        "_timer",
        "_watch",
        "_wire",
        "ahead",
        "blind",
        "reading",
        "seen",
        "tools",
    )

    def __init__(self, watch: TurnWatch, wire: Wire, *, ahead: bool, waiting: Waiting | None) -> None:
        super().__init__(waiting=waiting)
        self._watch, self._wire = watch, wire
        self.ahead = ahead
        """Whether anything may be run ahead for its session."""
        self._reader: AnswerReader | None = None
        self._started = watch._clock.monotonic()
        self._held: list[Observed] = []
        self._arrived: list[bytes] = []
        self._act: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.reading = False
        """The request is being read in the worker process."""
        self._begun = False
        self._named = False
        self.tools: tuple[str, ...] = ()
        """The names that the request offers."""
        self._answered = False
        """There is an answer, which may hold calls."""
        self.seen = False
        """The request was read and is an agent's turn."""
        self.blind = False
        """The request could not be read, so that its answer is nobody's: what it asks for goes unseen."""

    def read_later(self, act: Callable[[], None]) -> None:
        """Do `act`, which reads the request, in a moment."""
        self._act = act
        self._catch_up_later()

    def read_when_sent(self, act: Callable[[], None]) -> None:
        """Do `act`, which reads the request, a moment after it was sent."""
        self._act = act
        self._watch._behind.add(self)

    def sent(self) -> None:
        if self._act is not None:
            self._catch_up_later()

    def catch_up(self) -> None:
        """Read what there is: the request, if it is read here, and the chunks passed on so far."""
        self._watch._behind.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        act, self._act = self._act, None
        if act is not None:
            act()
        self._feed()

    def _catch_up_later(self) -> None:
        if self._timer is None:
            self._watch._behind.add(self)
            self._timer = asyncio.get_running_loop().call_later(_LATER_S, self.catch_up)

    def read(self, read: Reading | None, header: str | None) -> None:
        self.reading = False
        held, self._held = self._held, []
        if read is None:
            if self.waiting is not None:
                self._watch._post(RequestUnread(self))
                for item in held:
                    if isinstance(item, AnswerBegins | LimitsSeen | ExchangeOver):
                        self._watch._post(item)
            return
        self.seen, self.tools = True, read.request.tools
        if self.waiting is not None:
            self.waiting.stream = read.request.stream
        self._watch._post(RequestSeen(self, read, header, self.ahead))
        for item in held:
            self._watch._post(item)

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        if self.waiting is not None:
            limits = read_limits(status, headers, self._watch._clock.epoch())
            if limits is not None:
                self._tell_gate(LimitsSeen(self, limits))
        if 200 <= status < 300:
            self._answered = True
            self._reader = self._wire.reader(content_type=headers.get("content-type", ""))

    def chunk(self, data: bytes) -> None:
        if self.waiting is not None:
            self._count(data)
        if self._reader is None:
            return
        self._arrived.append(data)
        self._catch_up_later()

    def _count(self, data: bytes) -> None:
        if not self._begun:
            self._begun = True
            self._tell_gate(AnswerBegins(self))
        self.pieces += data.count(_PIECE)

    def _name(self, reader: AnswerReader) -> None:
        again = self.waiting.again if self.waiting is not None else None
        if again is not None and again.tool_cache and not self._named and reader.response_id:
            self._named = True
            self._tell(AnswerNamed(self, reader.response_id, self.tools))

    def _feed(self) -> None:
        arrived, self._arrived = self._arrived, []
        if self._reader is None or not arrived:
            return
        try:
            for call in self._reader.feed(b"".join(arrived)):
                self._tell(CallSeen(self, call))
            self._name(self._reader)
            for part in self._reader.under_way():
                self._tell(PartSeen(self, part))
        except Exception as fault:  # noqa: BLE001 - a reader raises nothing; should one, the rest of the turn is unseen
            self._reader = None
            self._watch._broke(fault)

    def closed(self, *, clean: bool, whole: bool = True) -> None:
        self.catch_up()
        nothing = TurnEnd(text="", calls=(), complete=False)
        end = self._reader.close(clean=clean and whole) if self._reader is not None else nothing
        unread = self._answered and (not whole or self._reader is None or end.unread)
        if self._answered and self.blind:
            self._watch._post(ObservationLost())
        took_s = self._watch._clock.monotonic() - max(self._started, self.admitted_at)
        self._tell(AnswerSeen(self, end, took_s, unread))
        if self.waiting is not None:
            self._tell_gate(ExchangeOver(self))

    def _tell_gate(self, item: AnswerBegins | LimitsSeen | ExchangeOver) -> None:
        """Whose turn it is or not; in order after the request."""
        if self.reading:
            self._held.append(item)
        else:
            self._watch._post(item)

    def _tell(self, item: Observed) -> None:
        if self.reading:
            self._held.append(item)
        elif self.seen:
            self._watch._post(item)
