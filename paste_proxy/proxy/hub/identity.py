"""Which session an LLM request belongs to.

A header names it, or a hint in the body, or the answer that the request says it goes on from. Otherwise the
request belongs to the session whose history it
extends: some earlier request's messages and, after them, that session's own answer. The first message
alone never decides, so rollouts of one prompt stay apart until their own answers tell them apart; where
even these are equal, whoever waits longest is served first. Histories are compared over all messages
and, where that says nothing, without the system's, for agents that rewrite their instructions.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

from paste_proxy.proxy.hub.prefix_chain import PrefixChain, after
from paste_proxy.proxy.hub.reading import Reading

_POINTS_PER_SESSION = 1_024
_FLYING_PER_SESSION = 64
_RETRY_S = 900.0
"""A cut request sent again later than this, counted from its first sending, is a task of its own."""

_Name = TypeVar("_Name", bytes, str)

_Owners = dict[bytes, dict[str, float]]
"""Point -> sessions it belongs to, first come first, each with a time."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a request belongs."""

    session: str
    known_messages: int
    """How many of its messages, from the first, the session had been told or had said already."""
    point: bytes
    """Names this request's history, for `Identity.answered`."""


@dataclass(frozen=True, slots=True)
class _Flight:
    """A request under way."""

    spoken: bytes
    sent: float


@dataclass(slots=True)
class _History:
    """What one session has been told and has said, as points of both chains, oldest first."""

    told: dict[bytes, None] = field(default_factory=dict)
    said: dict[bytes, None] = field(default_factory=dict)
    tip: tuple[bytes, ...] = ()
    """The latest of `said`; empty while a request is under way."""
    flying: dict[bytes, _Flight] = field(default_factory=dict)
    responses: dict[str, None] = field(default_factory=dict)
    """Ids of its latest answers, oldest first."""


class Identity:
    """Tells sessions apart.

    Args:
        limit: sessions held; the one seen longest ago goes first.
        prefix: begins the names of sessions that nobody else named.
    """

    def __init__(self, limit: int, *, prefix: str = "s") -> None:
        self._limit, self._prefix = limit, prefix
        self._histories: OrderedDict[str, _History] = OrderedDict()
        self._said: _Owners = {}
        self._cut: _Owners = {}
        """Requests that ended without a whole answer and may be sent again."""
        self._by_response: dict[str, str] = {}
        self._numbers = count(1)

    def resolve(self, reading: Reading, header: str | None, now: float) -> Placed:
        """The session of a request that has gone out at `now` seconds, a new one where none fits."""
        whole, spoken = reading.whole, reading.spoken
        point = whole.last
        session = header or reading.request.session_hint or self._by_response.get(reading.request.previous or "")
        session = session or self._retried(point, now)
        session = session or self._extended(whole, point) or self._extended(spoken, point) or self._fresh()
        history = self._touch(session)
        only_news = bool(reading.request.previous)
        known = 0 if only_news else max(chain.reach(history.told, history.said) for chain in (whole, spoken))
        for old in _remember(history.told, (point, spoken.last)):
            _disown(self._cut, old, session)
        _disown(self._cut, point, session)
        history.flying[point] = _Flight(spoken.last, now)
        if len(history.flying) > _FLYING_PER_SESSION:
            del history.flying[next(iter(history.flying))]
        history.tip = ()
        return Placed(session, known, point)

    def answered(
        self, session: str, digest: bytes, *, complete: bool = True, point: bytes = b"", response_id: str = ""
    ) -> None:
        """A turn of the session ended.

        Args:
            digest: what the next request's echo of the answer will have; empty where nothing was answered.
            complete: False where the client is likely to send the same request again.
            point: `Placed.point` of the turn's request; empty: the one longest under way.
            response_id: by which a later request may name the answer; empty where it has none.
        """
        history = self._histories.get(session)
        if history is None or not history.flying:
            return
        if response_id:
            self._by_response[response_id] = session
            for forgotten in _remember(history.responses, (response_id,)):
                self._by_response.pop(forgotten, None)
        if point not in history.flying:
            point = next(iter(history.flying))
        flight = history.flying.pop(point)
        if not (complete and digest):
            self._cut.setdefault(point, {})[session] = flight.sent
        if digest:
            said = (after(point, digest), after(flight.spoken, digest))
            for own in said:
                self._said.setdefault(own, {}).setdefault(session, flight.sent)
            for old in _remember(history.said, said):
                _disown(self._said, old, session)
            history.tip = () if history.flying else said

    def ended(self, session: str) -> None:
        """The session is over and forgotten."""
        history = self._histories.pop(session, None)
        if history is None:
            return
        for point in history.said:
            _disown(self._said, point, session)
        for point in history.told:
            _disown(self._cut, point, session)
        for response in history.responses:
            if self._by_response.get(response) == session:
                del self._by_response[response]

    def _retried(self, point: bytes, now: float) -> str | None:
        for name, sent in self._cut.get(point, {}).items():
            if now - sent <= _RETRY_S and point not in self._histories[name].flying:
                return name
        return None

    def _extended(self, chain: PrefixChain, request: bytes) -> str | None:
        """Whose own answer lies furthest along the chain; not one that has this very request under way."""
        for point in reversed(chain.points):
            owners = [name for name in self._said.get(point, ()) if request not in self._histories[name].flying]
            if owners:
                return next((name for name in owners if point in self._histories[name].tip), owners[-1])
        return None

    def _fresh(self) -> str:
        names = (f"{self._prefix}{number}" for number in self._numbers)
        return next(name for name in names if name not in self._histories)

    def _touch(self, session: str) -> _History:
        history = self._histories.setdefault(session, _History())
        self._histories.move_to_end(session)
        while len(self._histories) > self._limit:
            self.ended(next(iter(self._histories)))
        return history


def _remember(points: dict[_Name, None], new: Iterable[_Name]) -> list[_Name]:
    """Add points or ids; gives the oldest ones, let go for them."""
    for point in new:
        points.pop(point, None)
        points[point] = None
    surplus = len(points) - _POINTS_PER_SESSION
    gone = list(points)[:surplus] if surplus > 0 else []
    for point in gone:
        del points[point]
    return gone


def _disown(owners: _Owners, point: bytes, session: str) -> None:
    holders = owners.get(point)
    if holders is not None and holders.pop(session, None) is not None and not holders:
        del owners[point]
