"""Sends an engine the next request of a session before its agent does, so that the engine has read it by then.

The next request is known when the turn is over and every call of it has a result: one that the agent was given, one
that was run ahead and waits to be asked for, or one that somebody has told of. It is sent where the engine has room for
more, and given up when the agent asks. A session whose agent words results in a way of its own is left alone after a
few misses.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from paste_proxy.clock import Clock
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import canonical_text
from paste_proxy.proxy.hub.observed import AnswerSeen, Exchange, OutputTold, RequestSeen
from paste_proxy.proxy.hub.ready_results import ReadyResults, text_of
from paste_proxy.proxy.hub.warming_tally import WarmingTally
from paste_proxy.proxy.ports import Again
from paste_proxy.wire.next_request import next_request
from paste_proxy.wire.types import SeenCall, TurnEnd

_SESSIONS = 2_000
_MISSES, _MISSES_IN_ALL = 4, 32
"""So many more than hits, and a session, or all of them, are left alone."""
_TOLD_BYTES = 32 * 2**20
"""Of outputs that are kept before their answers' ends."""
_BODY_BYTES = 256 * 2**20
"""Of the latest requests of all sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """A request to be sent, of which nobody waits for the answer."""

    session: str
    again: Again
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """What is under way for a session is of no use any more."""

    session: str


@dataclass(slots=True)
class _Turn:
    exchange: Exchange
    again: Again
    gate: str
    end: TurnEnd | None = None
    outputs: dict[int, str] = field(default_factory=dict)
    """By the order of its calls: what its agent was given, or was told of."""
    sent: tuple[str, ...] | None = None
    """The outputs that the engine was sent."""


@dataclass(slots=True)
class _Session:
    turn: _Turn | None = None
    """The latest, where its route asks for this."""
    lead: int = 0
    """Hits less misses."""


class WarmingDesk:
    """Of all sessions.

    Args:
        resolve: a call of an answer, as the invocation that it asks for.
        idle: whether a gate's engine has room for more than what is in it.
    """

    def __init__(
        self,
        ready: ReadyResults,
        resolve: Callable[[SeenCall], Invocation],
        idle: Callable[[str], bool],
        tally: WarmingTally,
        clock: Clock,
    ) -> None:
        self._ready, self._resolve, self._idle, self._tally, self._clock = ready, resolve, idle, tally, clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._of_response: OrderedDict[str, str] = OrderedDict()
        """Id of a session's latest answer -> the session."""
        self._lead = 0
        """Hits less misses of all sessions."""
        self._bytes = 0
        """Of the turns' requests."""
        self._told: OrderedDict[int, tuple[OutputTold, float]] = OrderedDict()
        """Outputs told of before their answer's end was seen, and until when they count."""

    def asked(self, item: RequestSeen, session: str) -> Iterator[GiveUp]:
        """A turn begins."""
        known, waiting = self._known(session), item.exchange.waiting
        gone = known.turn
        self._drop(known)
        self._sessions.move_to_end(session)
        if gone is not None and gone.sent is not None:
            told = tuple(message.text for message in item.reading.request.messages if message.output is not None)
            hit = told[-len(gone.sent) :] == gone.sent
            self._tally.hits += hit
            known.lead += 1 if hit else -1
            self._lead += 1 if hit else -1
            yield GiveUp(session=session)
        if waiting is not None and waiting.again is not None and waiting.again.warm_up:
            self._hold(known, _Turn(item.exchange, waiting.again, waiting.gate))

    def answered(self, item: AnswerSeen, session: str) -> Iterator[WarmUp]:
        """A turn is over."""
        turn = self._known(session).turn
        if turn is None or turn.exchange is not item.exchange or not item.end.complete:
            return
        turn.end = item.end
        other = self._of_response.get(item.end.response_id, session)
        self._of_response[item.end.response_id] = session if other == session else ""  # ids that are not its own
        if len(self._of_response) > _SESSIONS:
            self._of_response.popitem(last=False)
        now = self._clock.monotonic()
        for number, (told, until) in list(self._told.items()):
            if told.response_id == item.end.response_id or until < now:
                del self._told[number]
                if until >= now:
                    _take(turn, item.end, told)
        yield from self.look(session)

    def output(self, session: str, call_id: str, result: ToolResult) -> Iterator[WarmUp]:
        """A call was answered."""
        turn = self._known(session).turn
        for call in turn.end.calls if turn is not None and turn.end is not None else ():
            if turn is not None and call.call_id == call_id:
                turn.outputs[call.order] = text_of(result)
        yield from self.look(session)

    def told(self, item: OutputTold) -> Iterator[WarmUp]:
        """Somebody says what a tool gave for a call of an answer, which may not be over. `item.kept` says whether it
        was of use."""
        session = self._of_response.get(item.response_id)
        if session is None:
            item.kept = self._keep(item)
            return
        turn = self._known(session).turn
        if turn is not None and turn.end is not None and turn.end.response_id == item.response_id:
            item.kept = _take(turn, turn.end, item)
            yield from self.look(session)

    def look(self, session: str) -> Iterator[WarmUp]:
        """Something may have become ready."""
        known = self._known(session)
        turn, end = known.turn, known.turn.end if known.turn is not None else None
        if turn is None or end is None or turn.sent is not None or not end.calls:
            return
        if known.lead <= -_MISSES or self._lead <= -_MISSES_IN_ALL:
            return
        outputs = [self._output(session, turn, call) for call in end.calls]
        if None in outputs or not self._idle(turn.gate):
            return
        turn.sent = tuple(output for output in outputs if output is not None)
        body = next_request(turn.again.body, end.text, end.calls, turn.sent)
        if body is not None:
            self._tally.sent += 1
            yield WarmUp(session=session, again=turn.again, body=body)

    def _keep(self, item: OutputTold) -> bool:
        now = self._clock.monotonic()
        for number in [number for number, (_, until) in self._told.items() if until < now]:
            del self._told[number]
        if sum(len(told.output) for told, _ in self._told.values()) + len(item.output) > _TOLD_BYTES:
            return False
        self._told[id(item)] = item, now + item.keep_alive_s
        return True

    def _hold(self, known: _Session, turn: _Turn) -> None:
        """Keep a turn, at the expense of those of sessions that were not heard of for longest."""
        known.turn = turn
        self._bytes += len(turn.again.body)
        for other in self._sessions.values():
            if self._bytes <= _BODY_BYTES:
                break
            if other is not known:
                self._drop(other)

    def _drop(self, known: _Session) -> None:
        if known.turn is not None:
            self._bytes -= len(known.turn.again.body)
            known.turn = None

    def session_over(self, session: str) -> None:
        """Nothing was heard of it for long."""
        known = self._sessions.pop(session, None)
        if known is not None:
            self._drop(known)

    def _output(self, session: str, turn: _Turn, call: SeenCall) -> str | None:
        if call.order in turn.outputs:
            return turn.outputs[call.order]
        result = self._ready.find(session, self._resolve(call))
        return None if result is None else text_of(result)

    def _known(self, session: str) -> _Session:
        known = self._sessions.get(session)
        if known is None:
            known = self._sessions[session] = _Session()
            if len(self._sessions) > _SESSIONS:
                self._drop(self._sessions.popitem(last=False)[1])
        return known


def _take(turn: _Turn, end: TurnEnd, told: OutputTold) -> bool:
    for call in end.calls:
        same = told.arguments is None or canonical_text(told.arguments) == canonical_text(call.arguments)
        if call.name == told.name and same and call.order not in turn.outputs:
            turn.outputs[call.order] = told.output
            return True
    return False
