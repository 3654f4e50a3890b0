"""What is seen of LLM exchanges, made into events of their sessions and facts for the scheduler."""

from collections.abc import Callable, Sequence
from functools import partial

from paste_proxy.clock import Clock
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import CallSealed, Event, LlmTurn, TurnStarted
from paste_proxy.proxy.hub.foresight import Foresight
from paste_proxy.proxy.hub.history import heard
from paste_proxy.proxy.hub.observed import AnswerSeen, CallSeen, PartSeen, RequestSeen, Tunnel
from paste_proxy.proxy.hub.opting_out import opt_out
from paste_proxy.proxy.hub.session import AgentSession, AskedCall
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.thinking import Thought
from paste_proxy.proxy.hub.toolbox import Resolved, Toolbox
from paste_proxy.speculation.types import EffectBegan, EffectEnded, ObservationLost

_UNSEEN = "(unseen)"
"""Stands for a call that nobody saw, and for its tool: no rule names it, so that it counts as any write."""
_HISTORY = 64
"""Events of a past nobody saw that are caught up with; predictors look back no further."""


class TurnDesk:
    """Takes requests, sealed calls and answers.

    A call may take effect as soon as it is sealed; its effect is over when the call comes through the sidecar, or
    when its result comes back in a later request. One that we could run with its effects held back is ours: it has
    none before it is asked of us. What cannot be excluded counts: calls that only the history shows have had their
    effect, and an answer that could not be read may have held any call.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        toolbox: Toolbox,
        foresight: Foresight,
        tally: Tally,
        clock: Clock,
        tell: Callable[..., None],
        think: Callable[[Thought], None],
        happened: Callable[[AgentSession, Event], None],
        passed: Callable[[AgentSession, Event], None],
    ) -> None:
        self._sessions, self._toolbox, self._foresight = sessions, toolbox, foresight
        self._tally, self._clock = tally, clock
        self._tell, self._think, self._happened, self._passed = tell, think, happened, passed

    def request(self, item: RequestSeen) -> None:
        """An LLM request begins a turn and brings what happened since the last one.

        A client's side question belongs to no session: nothing that it holds or is answered counts.
        """
        if item.reading.request.utility:
            self._tally.utility_turns += 1
            return
        session, placed = self._sessions.place_request(item.reading, item.header, self._clock.monotonic())
        if not item.ahead:
            opt_out(session, self._tell)
        messages = item.reading.after(placed.known_messages)
        session.prefixes = session.prefixes or any(map(self._toolbox.prefixed, item.reading.request.tools))
        new = heard(session, messages, partial(self._toolbox.resolve, bare=not session.prefixes), self._clock.epoch())
        self._tally.beside(call.invocation.tool for call in new.answered)
        held_back = [Resolved(call.invocation, call.invocation) for call in new.answered if not call.effect]
        for call in (*new.answered, *session.begin_turn()):
            self._over(session, call)
        self._went_unseen(session, (*new.unseen, *held_back))
        item.exchange.session, item.exchange.turn, item.exchange.point = session.id, session.turn, placed.point
        self._tally.turns += 1
        *past, latest = new.events or (None,)
        for event in past[-_HISTORY:]:
            self._passed(session, event)
        if latest is not None:
            self._happened(session, latest)
        self._happened(
            session,
            TurnStarted(
                session=session.id, ts=self._clock.epoch(), turn=session.turn, model=item.reading.request.model
            ),
        )

    def written(self, item: PartSeen | CallSeen) -> None:
        """A call stands in the stream, in part or whole."""
        if isinstance(item, PartSeen):
            self.part(item)
        else:
            self.call(item)

    def part(self, item: PartSeen) -> None:
        """A call is being written: some of what was expected is ruled out, some becomes likely."""
        session = self._sessions.get(item.exchange.session)
        if session is not None:
            session.prefixes = session.prefixes or self._toolbox.prefixed(item.part.name)
            thought = self._foresight.begun(session, item.exchange.turn, item.part)
            if thought is not None:
                self._think(thought)

    def call(self, item: CallSeen) -> None:
        """A call became complete in the stream: predictor zero, and the beginning of a possible effect."""
        session = self._sessions.get(item.exchange.session)
        if session is None:
            return
        session.prefixes = session.prefixes or self._toolbox.prefixed(item.call.name)
        found = self._toolbox.resolve(item.call.name, item.call.arguments, bare=not session.prefixes)
        invocation = found.invocation
        asked = AskedCall(item.exchange.turn, item.call.order, item.call.call_id, invocation)
        replaced = session.asked(asked)
        if replaced is not None:
            asked.claimed = replaced.claimed
            self._over(session, replaced)
        began = []
        held = self._foresight.holds_back(session, invocation)
        if not (found.sure and held):
            asked.effect = f"{asked.turn}/{asked.order}/{asked.call_id}"
            began = [_effect(session, asked.effect, found, held=held)]
        event = CallSealed(
            session=session.id,
            ts=self._clock.epoch(),
            turn=asked.turn,
            order=asked.order,
            call_id=asked.call_id,
            invocation=invocation,
        )
        self._tell(*began, *self._foresight.sealed(session, event))
        self._happened(session, event)

    def answer(self, item: AnswerSeen) -> None:
        """A turn ended."""
        session = self._sessions.get(item.exchange.session)
        if session is None:
            return
        if item.unread:
            self._tell(ObservationLost())
        self._sessions.answered(session, item.end, item.exchange.point)
        session.llm_s += item.duration_s
        self._tally.llm_s += item.duration_s
        self._tally.incomplete_turns += not item.end.complete
        self._happened(
            session,
            LlmTurn(
                session=session.id,
                ts=self._clock.epoch(),
                text=item.end.text,
                turn=item.exchange.turn,
                complete=item.end.complete,
                duration_s=item.duration_s,
                input_tokens=item.end.input_tokens,
                output_tokens=item.end.output_tokens,
            ),
        )

    def tunnel(self, item: Tunnel) -> None:
        """Turns pass that nobody can read: any call may be made until the connection closes."""
        name = f"tunnel {item.number}"
        if item.open:
            self._tell(EffectBegan(session=name, call_id=_UNSEEN, invocation=Invocation(_UNSEEN, {})))
        else:
            self._tell(EffectEnded(session=name, call_id=_UNSEEN))

    def _went_unseen(self, session: AgentSession, calls: Sequence[Resolved]) -> None:
        distinct = {call.judged.key: call for call in calls}
        if len(distinct) > _HISTORY:
            self._tell(ObservationLost())
            return
        for call in distinct.values():
            self._tell(_effect(session, _UNSEEN, call))
            self._tell(EffectEnded(session=session.id, call_id=_UNSEEN))

    def _over(self, session: AgentSession, call: AskedCall) -> None:
        if call.effect:
            self._tell(EffectEnded(session=session.id, call_id=call.effect))
            call.effect = None


def _effect(session: AgentSession, call_id: str, call: Resolved, *, held: bool = False) -> EffectBegan:
    return EffectBegan(session=session.id, call_id=call_id, invocation=call.judged, or_else=call.or_else, held=held)
