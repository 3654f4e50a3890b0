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
from paste_proxy.proxy.hub.observed import AnswerSeen, CallSeen, Exchange, Observed, PartSeen, RequestSeen, Tunnel
from paste_proxy.proxy.hub.reader_process import ReaderProcess, read_request
from paste_proxy.proxy.hub.reading import Reading
from paste_proxy.proxy.ports import Pieces, TurnTee
from paste_proxy.speculation.types import ObservationLost
from paste_proxy.wire.protocols import WIRES
from paste_proxy.wire.types import AnswerReader, TurnEnd, Wire

log = structlog.get_logger(__name__)

_LATER_S = 0.002
"""A request is read this long after it has gone upstream: no LLM answers sooner, and whatever the loop has
to pass on by then goes first."""

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

    def catch_up(self) -> None:
        """Read now what has been passed on: somebody may be acting on it already. Raises nothing."""
        for exchange in list(self._behind):
            exchange.catch_up()

    def opened(self, *, wire: str, target: str, headers: Mapping[str, str], body: Pieces | None) -> TurnTee:
        """A request went upstream."""
        exchange = _Watched(self, WIRES[wire], ahead=not opts_out(headers.items()))
        if body is None:
            exchange.blind = True
            return exchange
        header = next((headers[name] for name in self._session_headers if name in headers), None)
        exchange.reading = True
        if sum(map(len, body)) <= self._inline_bytes:
            exchange.read_later(partial(self._read_here, exchange, wire, target, header, b"".join(body)))
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
        "_held",
        "_reader",
        "_started",
        "_timer",
        "_watch",
        "_wire",
        "ahead",
        "blind",
        "reading",
        "seen",
    )

    def __init__(self, watch: TurnWatch, wire: Wire, *, ahead: bool) -> None:
        super().__init__()
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
            return
        self.seen = True
        self._watch._post(RequestSeen(self, read, header, self.ahead))
        for item in held:
            self._watch._post(item)

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        if 200 <= status < 300:
            self._answered = True
            self._reader = self._wire.reader(content_type=headers.get("content-type", ""))

    def chunk(self, data: bytes) -> None:
        if self._reader is None:
            return
        self._arrived.append(data)
        self._catch_up_later()

    def _feed(self) -> None:
        arrived, self._arrived = self._arrived, []
        if self._reader is None or not arrived:
            return
        try:
            for call in self._reader.feed(b"".join(arrived)):
                self._tell(CallSeen(self, call))
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
        self._tell(AnswerSeen(self, end, self._watch._clock.monotonic() - self._started, unread))

    def _tell(self, item: Observed) -> None:
        if self.reading:
            self._held.append(item)
        elif self.seen:
            self._watch._post(item)
