"""The open authoritative calls: each asked once, decided once, answered once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from paste_proxy.clock import Clock
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import OBSERVED_BYTES, ToolResult
from paste_proxy.events.types import Event, ToolCall, ToolOutput
from paste_proxy.proxy.hub.observed import ToolAnswered, ToolAsked
from paste_proxy.proxy.hub.opting_out import opt_out
from paste_proxy.proxy.hub.session import AgentSession, AskedCall
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.ports import Decision, RunIt, ServeIt
from paste_proxy.speculation.types import Asked, CallEnded, Commit, Committed, EffectEnded, ObservationLost, Run, Serve

log = structlog.get_logger(__name__)

_NOWHERE = " "
"""A scope that no job is run in."""


@dataclass(slots=True, eq=False)
class _Open:
    ticket: int
    session: AgentSession
    asked: AskedCall | None
    call_id: str
    invocation: Invocation
    since: float
    reply: "asyncio.Future[Decision]"
    commits: tuple[Commit, "asyncio.Task[Committed]"] | None = None
    """What happens for it now."""

    def decide(self, decision: Decision) -> None:
        if not self.reply.done():
            self.reply.set_result(decision)


class CallDesk:
    """Takes tool calls and their ends; carries out `Run` and `Serve`."""

    def __init__(
        self,
        *,
        sessions: Sessions,
        toolbox: Toolbox,
        tally: Tally,
        clock: Clock,
        tell: Callable[..., None],
        happened: Callable[[AgentSession, Event], None],
        spare: Callable[[Callable[[], None]], None],
        answered: Callable[[str, str, ToolResult], None],
    ) -> None:
        self._sessions, self._toolbox, self._tally, self._clock = sessions, toolbox, tally, clock
        self._tell, self._happened, self._in_spare_time = tell, happened, spare
        self._answered = answered
        self._open: dict[int, _Open] = {}

    def asked(self, item: ToolAsked) -> None:
        """The agent called a tool."""
        if item.reply.done():
            return
        item.taken = True
        now, call = self._clock.monotonic(), replace(item.call, invocation=self._toolbox.plain(item.call.invocation))
        session = self._sessions.place_call(call, now)
        if not call.ahead:
            opt_out(session, self._tell)
        if call.scope:
            self._toolbox.belongs(call.scope, session.id)
        asked = session.claim(call.invocation, call.call_id)
        call_id = call.call_id or (asked.call_id if asked else f"ticket-{item.ticket}")
        self._open[item.ticket] = _Open(item.ticket, session, asked, call_id, call.invocation, now, item.reply)
        session.tool_calls += 1
        turn = asked.turn if asked else None
        self._happened(
            session,
            ToolCall(
                session=session.id, ts=self._clock.epoch(), call_id=call_id, invocation=call.invocation, turn=turn
            ),
        )
        wanted = not call.alone or (asked is not None and session.alone(asked))
        scope = call.scope if wanted else _NOWHERE
        self._tell(Asked(call=item.ticket, session=session.id, invocation=call.invocation, scope=scope))
        if asked is not None and asked.effect:
            self._tell(EffectEnded(session=session.id, call_id=asked.effect))
            asked.effect = None
        asyncio.get_running_loop().call_soon(self._spare, session)  # after the call has been let go on its way

    def _spare(self, session: AgentSession) -> None:
        try:
            self._in_spare_time(session.predictor.look_ahead)
        except Exception:
            self._tally.fault("look_ahead")
            log.exception("look_ahead_fault")

    def answered(self, item: ToolAnswered) -> None:
        """A call that was run is over. One that the hub never saw may have been a write."""
        call = self._open.get(item.ticket)
        if call is None:
            self._tell(ObservationLost())
            return
        status = item.result.status if item.result else None
        self._tell(CallEnded(call=item.ticket, status=status, result=item.result))
        self._close(call, item.result, "run", self._clock.monotonic() - call.since)

    def run(self, command: Run) -> None:
        """Let the call run."""
        if call := self._open.get(command.call):
            call.decide(RunIt(call.ticket))

    def commits(self, command: Commit, happening: asyncio.Task[Committed]) -> None:
        """The effects of a job happen for the call, which is no more to be run unless they cannot."""
        if call := self._open.get(command.call):
            call.commits = command, happening

    def serve(self, command: Serve) -> None:
        """Answer the call with a job's result."""
        if call := self._open.get(command.call):
            call.decide(ServeIt(command.result, command.outcome, command.job))
            self._close(call, command.result, command.outcome.value, command.took_s)

    def release(self) -> None:
        """Let every call that still waits run; nothing will decide any more. One for which something happens now is
        served that."""
        for call in self._open.values():
            if call.commits is None:
                call.decide(RunIt(call.ticket))
            else:
                _decide_after(call, *call.commits)

    def _close(self, call: _Open, result: ToolResult | None, decision: str, took_s: float) -> None:
        self._open.pop(call.ticket, None)
        if call.asked is not None:
            call.asked.answered = True
        waited = self._clock.monotonic() - call.since
        call.session.exposed_s += waited
        self._tally.answered(call.invocation.tool, decision, waited)
        if result is None:
            return
        self._answered(call.session.id, call.call_id, result)
        self._happened(
            call.session,
            ToolOutput(
                session=call.session.id,
                ts=self._clock.epoch(),
                call_id=call.call_id,
                tool=call.invocation.tool,
                output=result.observed(),
                status=result.status,
                duration_s=took_s,
                truncated=len(result.body) > OBSERVED_BYTES,
            ),
        )


def _decide_after(call: _Open, commit: Commit, happening: asyncio.Task[Committed]) -> None:
    def over(task: asyncio.Task[Committed]) -> None:
        told = None if task.cancelled() else task.result()
        if told is None or not told.done:
            call.decide(RunIt(call.ticket))
        else:
            call.decide(ServeIt(told.instead or commit.result, commit.outcome, commit.job))

    happening.add_done_callback(over)
