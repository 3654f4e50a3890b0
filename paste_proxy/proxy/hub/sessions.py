"""The live sessions: which one an LLM request or a tool call belongs to, and their bounded number."""

from collections import OrderedDict
from collections.abc import Callable, Iterator

from paste_proxy.events.invocation import server_of
from paste_proxy.mining.prediction import SessionPredictor
from paste_proxy.proxy.hub.identity import Identity, Placed
from paste_proxy.proxy.hub.reading import Reading
from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.proxy.ports import AgentCall
from paste_proxy.wire.types import TurnEnd


class Sessions:
    """Agent sessions by id, least recently seen first.

    A tool call finds its session by what it names itself, else by the turn that asked for exactly it,
    else by the connection it came through.
    """

    def __init__(
        self, predictor: Callable[[], SessionPredictor], *, limit: int, idle_s: float, prefix: str = "s"
    ) -> None:
        self._predictor = predictor
        self._limit, self._idle_s = limit, idle_s
        self._live: OrderedDict[str, AgentSession] = OrderedDict()
        self._by_scope: dict[str, str] = {}
        self._one: dict[str, str] = {}
        """Names that tool calls use -> the session that is meant."""
        self._identity = Identity(limit, prefix=prefix)

    def __len__(self) -> int:
        return len(self._live)

    @property
    def too_many(self) -> bool:
        """There are more than may be held; `expire` lets the surplus go."""
        return len(self._live) > self._limit

    def __iter__(self) -> Iterator[AgentSession]:
        return iter(self._live.values())

    def get(self, session: str) -> AgentSession | None:
        """The session, if it is still live."""
        return self._live.get(session)

    def place_request(self, request: Reading, header: str | None, now: float) -> tuple[AgentSession, Placed]:
        """The session of an LLM request, and where in its history the request stands."""
        placed = self._identity.resolve(request, header, now)
        return self._touch(placed.session, now), placed

    def answered(self, session: AgentSession, end: TurnEnd, point: bytes) -> None:
        """The session's turn of that `Placed.point` was answered."""
        self._identity.answered(session.id, end.digest, complete=end.complete, point=point, response_id=end.response_id)

    def place_call(self, call: AgentCall, now: float) -> AgentSession:
        """The session of a tool call."""
        session = self._touch(self._named(call) or self._asker(call) or call.scope or "anonymous", now)
        if call.scope:
            self._by_scope[call.scope] = session.id
            session.scopes[server_of(call.invocation.tool)] = call.scope
        return session

    def _named(self, call: AgentCall) -> str | None:
        """The session that the call names, by the name that its LLM requests have.

        An agent may name its session where it calls tools and not where it asks its LLM. Then the turn that
        asked for exactly this shows which session is meant, and the two names are one until another one's turn
        does so: the agent has gone on to its next task. Not where neither a connection nor a call id tells two
        agents apart that ask for the same.
        """
        name = call.session
        if name is None:
            return None
        meant = self._one.get(name, name)
        own = self._live.get(name)
        if meant == name and own is not None and own.turn:
            return name
        asker = self._asker(call) if call.scope or call.call_id else None
        if asker is None or asker == meant or not self._live[asker].turn:
            return meant
        if meant == name or self._live[asker].expects(call.invocation, call.call_id):
            self._one[name] = asker
            return asker
        return meant

    def _asker(self, call: AgentCall) -> str | None:
        bound = self._live.get(self._by_scope.get(call.scope, ""))
        if bound is not None and bound.expects(call.invocation, call.call_id):
            return bound.id
        for session in reversed(self._live.values()):
            if session.expects(call.invocation, call.call_id):
                return session.id
        return bound.id if bound is not None else None

    def scope_gone(self, scope: str) -> None:
        """A connection closed."""
        session = self._live.get(self._by_scope.pop(scope, ""))
        if session is not None:
            session.scopes = {server: own for server, own in session.scopes.items() if own != scope}

    def _touch(self, session_id: str, now: float) -> AgentSession:
        session = self._live.get(session_id)
        if session is None:
            session = self._live[session_id] = AgentSession(session_id, self._predictor(), started=now, seen=now)
        session.seen = now
        self._live.move_to_end(session_id)
        return session

    def all(self) -> list[AgentSession]:
        """The sessions that have not ended."""
        return list(self._live.values())

    def expire(self, now: float) -> list[AgentSession]:
        """Let go of sessions idle too long or too many."""
        gone = []
        while self._live:
            oldest = next(iter(self._live.values()))
            if len(self._live) <= self._limit and now - oldest.seen < self._idle_s:
                break
            gone.append(self._live.pop(oldest.id))
            self._identity.ended(oldest.id)
        lost = {session.id for session in gone}
        if lost:
            self._by_scope = {scope: owner for scope, owner in self._by_scope.items() if owner not in lost}
            self._one = {name: meant for name, meant in self._one.items() if meant not in lost}
        return gone
