"""What each thing observed leads to, and the scheduler's commands carried out.

Runs only inside the hub's task. Events go to the log and to their session's predictor; what that
predicts goes to the scheduler, at once.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol, assert_never

import structlog

from paste_proxy.clock import Clock, day_of
from paste_proxy.events.cored import as_asked
from paste_proxy.events.types import Event, Outcome, Speculation
from paste_proxy.proxy.hub.call_desk import CallDesk
from paste_proxy.proxy.hub.engine_desk import EngineDesk, engine_desk
from paste_proxy.proxy.hub.executor import Executor
from paste_proxy.proxy.hub.foresight import Foresight
from paste_proxy.proxy.hub.guesses import Guesses, NoGuesses
from paste_proxy.proxy.hub.observed import (
    AnswerBegins,
    AnswerNamed,
    AnswerSeen,
    CallSeen,
    EngineHeard,
    ExchangeOver,
    LimitsSeen,
    Observed,
    OutputTold,
    PartSeen,
    RequestSeen,
    RequestUnread,
    ScopeGone,
    ToolAnswered,
    ToolAsked,
    Tunnel,
)
from paste_proxy.proxy.hub.preparation_desk import PreparationDesk
from paste_proxy.proxy.hub.refusal_desk import RefusalDesk
from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.thinking import AtOnce, Foreseen, Thinking, Thought
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.hub.turn_desk import TurnDesk
from paste_proxy.speculation.opportunities import Opportunities
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import (
    Cancel,
    Command,
    Commit,
    Committed,
    JobEnded,
    JobSent,
    JobWaits,
    Launch,
    ObservationLost,
    Promote,
    Refused,
    Run,
    Serve,
    SessionEnded,
    Settled,
    Tick,
    Today,
    Told,
)
from paste_proxy.speculators.guess import Guessed
from paste_proxy.tools.backend import Staging

log = structlog.get_logger(__name__)

_DEEPEST = 3
"""Links of a chain: each stands on guesses before it, and three in a row are seldom right."""
_READ_AHEAD_BYTES = 64 * 2**10
"""A longer result nobody has asked for is not worth reading."""


class EventLog(Protocol):
    """Where events go to be kept."""

    def record(self, event: Event) -> None:
        """Keep an event; never blocks, never raises."""


class Conductor:
    """Everything it conducts is given to it.

    Args:
        guesses: asks a speculative LLM; None: there is none.
        refusals: takes what is not launched; None: one that finds nothing missed.
        preparations: has it got ready for what is not launched; None: nothing is.
        thinking: works predictions out; None: that is done here, and everything waits for it.
        engines: lets turns into engines, and tells them ahead what comes; None: there are none.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        sessions: Sessions,
        toolbox: Toolbox,
        foresight: Foresight,
        executor: Executor,
        log: EventLog,
        tally: Tally,
        clock: Clock,
        guesses: Guesses | None = None,
        refusals: RefusalDesk | None = None,
        preparations: PreparationDesk | None = None,
        thinking: Thinking | None = None,
        engines: EngineDesk | None = None,
    ) -> None:
        self._thinking = thinking or AtOnce()
        self._engines = engines or engine_desk({}, toolbox, tally.warming, clock)
        self._preparations = preparations
        self._guesses = guesses or NoGuesses()
        self._refusals = refusals or RefusalDesk(tally, clock, Opportunities(as_asked, least=1.0, ttl_s=0.0))
        self._scheduler, self._sessions, self._toolbox, self._foresight = scheduler, sessions, toolbox, foresight
        self._executor, self._log, self._tally, self._clock = executor, log, tally, clock
        self._ahead: dict[int, Launch] = {}
        """Jobs that have not come to their end; the ledger bounds how many."""
        self._turns = TurnDesk(
            sessions=sessions,
            toolbox=toolbox,
            foresight=foresight,
            tally=tally,
            clock=clock,
            tell=self.tell,
            think=self._think,
            happened=self._happened,
            passed=self._passed,
        )
        self._calls = CallDesk(
            sessions=sessions,
            toolbox=toolbox,
            tally=tally,
            clock=clock,
            tell=self.tell,
            happened=self._happened,
            spare=self._thinking.do,
            answered=self._engines.answered,
        )

    def handle(self, item: Observed) -> None:
        """Take one item of the inbox."""
        match item:
            case RequestSeen():
                self._turns.request(item)
                self._guesses.opened(item)
                self._engines.handle(item, self._sessions.get(item.exchange.session))
            case PartSeen() | CallSeen():
                self._turns.written(item)
            case AnswerSeen():
                self._turns.answer(item)
                self._engines.handle(item, self._sessions.get(item.exchange.session))
            case (
                RequestUnread()
                | AnswerBegins()
                | AnswerNamed()
                | ExchangeOver()
                | LimitsSeen()
                | EngineHeard()
                | OutputTold()
            ):
                self._engines.handle(item)
            case ToolAsked():
                self._calls.asked(item)
            case ToolAnswered():
                self._calls.answered(item)
            case ScopeGone(scope):
                self._sessions.scope_gone(scope)
            case JobEnded():
                self._job_ended(item)
            case Tunnel():
                self._turns.tunnel(item)
            case Foreseen() | Guessed() | JobSent() | Committed() | ObservationLost():
                self.tell(*self._facts(item))
            case _:
                assert_never(item)
        if self._sessions.too_many:
            self.housekeep()

    def _facts(self, item: Foreseen | Guessed | JobSent | Committed | ObservationLost) -> Sequence[Told]:
        match item:
            case Foreseen(thought, prediction):
                return thought.meant(prediction)
            case Guessed():
                return self._guesses.guessed(item)
            case _:
                return (item,)

    def tell(self, *facts: Told) -> None:
        """Tell the scheduler and carry out what it decides."""
        for fact in facts:
            self._refusals.heard(fact)
            commands = self._scheduler.step(fact, self._clock.monotonic())
            for command in commands:
                self._carry_out(command)
            if self._preparations is not None:
                self._preparations.heard(fact, commands)

    def housekeep(self) -> None:
        """End sessions that went silent, and those too many; tell what day it is."""
        self.tell(Today(day_of(self._clock.epoch())))
        for session in self._sessions.expire(self._clock.monotonic()):
            session.ahead = False
            self._thinking.do(session.predictor.end)
            self.tell(SessionEnded(session=session.id))
            self._guesses.left(session.id)
            self._engines.session_over(session.id)
        self._log_refusals()

    def release(self) -> None:
        """Let every call that still waits run, and every turn go; nothing will decide any more."""
        self._calls.release()
        self._engines.release()

    def tick(self) -> None:
        """A deadline may have come."""
        self.tell(Tick())
        self._engines.tick()

    def conclude(self) -> None:
        """Let predictors learn from what sessions showed until now, and account for jobs; there is no more to come."""
        for session in self._sessions.all():
            self._thinking.do(session.predictor.end)
            self.tell(SessionEnded(session=session.id))
        self._log_refusals(at_once=True)

    def _log_refusals(self, *, at_once: bool = False) -> None:
        for event in self._refusals.due(at_once=at_once):
            self._log.record(event)

    def _happened(self, session: AgentSession, event: Event) -> None:
        self._log.record(event)
        self._think(self._foresight.step(session, event))
        self._guesses.happened(event)
        asyncio.get_running_loop().call_soon(self._glimpse, session)  # after what is run ahead has begun

    def _glimpse(self, session: AgentSession) -> None:
        try:
            self._think(self._foresight.glimpsed(session))
        except Exception:
            self._tally.fault("glimpse")
            log.exception("glimpse_fault")

    def _passed(self, session: AgentSession, event: Event) -> None:
        """Something that other things have followed since: of use as history only."""
        self._log.record(event)
        self._thinking.do(self._foresight.follow(session, event))

    def _think(self, thought: Thought) -> None:
        prediction = self._thinking.think(thought)
        if prediction is not None:
            self.tell(*thought.meant(prediction))

    def _carry_out(self, command: Command) -> None:
        match command:
            case Launch():
                self._launch(command)
            case Cancel(job=job):
                self._executor.cancel(job)
            case Run():
                self._calls.run(command)
            case Serve():
                self._refusals.heard(command)
                self._calls.serve(command)
            case Settled():
                self._settled(command)
            case Refused():
                self._refusals.refused(command)
            case Promote(job=job):
                self._executor.want(job)
            case Commit(job=job):
                self._calls.commits(command, self._executor.commit(job))
            case _:
                assert_never(command)

    def _launch(self, command: Launch) -> None:
        offer = self._toolbox.through(command.invocation.tool, command.scope)
        if offer is None or (command.staged and not isinstance(offer.backend, Staging)):
            self.tell(JobEnded(job=command.job, result=None))
            return
        self._tally.launched += not command.rehearsal
        self._ahead[command.job] = command
        self._engines.launched(command)
        if isinstance(offer.backend, Staging) and command.staged:
            self._executor.stage(command.job, command.invocation, offer.backend)
        elif not self._executor.launch(command.job, command.invocation, offer.backend):
            self.tell(JobWaits(job=command.job))

    def _job_ended(self, ended: JobEnded) -> None:
        self.tell(ended)
        job = self._ahead.get(ended.job)
        if job is not None:
            self._engines.ended(job, ended.result)
        session = self._sessions.get(job.session) if job else None
        if job is None or session is None or ended.result is None or job.candidate.depth >= _DEEPEST:
            return
        if job.staged or job.rehearsal:
            return  # what follows would be run where its effects have not happened
        if len(ended.result.body) <= _READ_AHEAD_BYTES and not self._scheduler.crowded:
            self._think(self._foresight.beyond(session, job, ended.result))

    def _settled(self, settled: Settled) -> None:
        self._tally.settled(settled)
        if settled.outcome in (Outcome.REUSED, Outcome.PROMOTED) and not settled.shadow:
            log.info(
                "served", tool=settled.invocation.tool, outcome=settled.outcome.value, saved_s=round(settled.saved_s, 3)
            )
        self._ahead.pop(settled.job, None)
        self._engines.settled(settled)
        session = self._sessions.get(settled.session)
        if session is not None and not settled.shadow:
            session.saved_s += settled.saved_s
        self._log.record(
            Speculation(
                session=settled.session,
                ts=self._clock.epoch(),
                invocation=settled.invocation,
                source=settled.source,
                confidence=settled.confidence,
                outcome=settled.outcome,
                ran_s=settled.ran_s,
                saved_s=settled.saved_s,
                shadow=settled.shadow,
                why=settled.why,
                rule=settled.rule or None,
                utility=settled.utility or None,
                benefit_s=settled.benefit_s or None,
                cost=settled.cost or None,
                again=settled.again,
                staged=settled.staged,
                rehearsal=settled.rehearsal,
                commit_s=settled.commit_s,
                bytes=settled.bytes,
                cpu_s=settled.cpu_s,
            )
        )
