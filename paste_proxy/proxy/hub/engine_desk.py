"""Everything that engines have to do with: turns let in, next requests and tools' outputs sent ahead."""

from collections.abc import Callable, Iterable, Mapping

from paste_proxy.clock import Clock
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.hub.observed import (
    AnswerBegins,
    AnswerNamed,
    AnswerSeen,
    EngineHeard,
    ExchangeOver,
    LimitsSeen,
    OutputTold,
    RequestSeen,
    RequestUnread,
)
from paste_proxy.proxy.hub.pacing_desk import PacingDesk
from paste_proxy.proxy.hub.ready_results import ReadyResults
from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.proxy.hub.tool_cache_desk import GiveOutput, ToolCacheDesk
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.hub.warming_desk import GiveUp, WarmingDesk, WarmUp
from paste_proxy.proxy.hub.warming_tally import WarmingTally
from paste_proxy.speculation.types import Launch, Settled
from paste_proxy.turns.gate import Gate
from paste_proxy.wire.types import SeenCall

Sent = WarmUp | GiveUp | GiveOutput
OfEngine = (
    RequestSeen
    | RequestUnread
    | AnswerBegins
    | AnswerSeen
    | ExchangeOver
    | LimitsSeen
    | EngineHeard
    | AnswerNamed
    | OutputTold
)


def engine_desk(
    gates: Mapping[str, Gate],
    toolbox: Toolbox,
    tally: WarmingTally,
    clock: Clock,
    send: Callable[[Sent], None] = lambda sent: None,
) -> "EngineDesk":
    """One before those gates, by name."""
    pacing, ready = PacingDesk(gates, clock), ReadyResults()

    def resolve(call: SeenCall) -> Invocation:
        return toolbox.resolve(call.name, call.arguments).invocation

    warming = WarmingDesk(ready, resolve, pacing.idle, tally, clock)
    return EngineDesk(pacing, ready, warming, ToolCacheDesk(ready, toolbox.identify), send)


class EngineDesk:
    """Takes what is seen, in the hub's order.

    Args:
        send: sends something of which nobody waits for the answer; never blocks, raises nothing.
    """

    def __init__(
        self,
        pacing: PacingDesk,
        ready: ReadyResults,
        warming: WarmingDesk,
        tool_cache: ToolCacheDesk,
        send: Callable[[Sent], None],
    ) -> None:
        self.pacing, self._ready, self._warming, self._tool_cache = pacing, ready, warming, tool_cache
        self.send = send

    def handle(self, item: OfEngine, session: AgentSession | None = None) -> None:
        """Take one item.

        Args:
            session: the one that its exchange belongs to, where it is known.
        """
        match item:
            case OutputTold():
                self._sends(self._warming.told(item))
                if not item.done.done():
                    item.done.set_result(item.kept)
            case AnswerNamed(exchange=exchange):
                waiting = exchange.waiting
                if waiting is not None and waiting.again is not None and exchange.session:
                    begun = (exchange.session, waiting.again, item.response_id, item.tools)
                    self._sends(self._tool_cache.begins(*begun))
            case RequestSeen():
                self.pacing.handle(item, session)
                if session is not None:
                    self._sends(self._warming.asked(item, session.id))
            case AnswerSeen():
                self.pacing.handle(item, session)
                if session is not None:
                    self._tool_cache.over(session.id)
                    self._sends(self._warming.answered(item, session.id))
            case _:
                self.pacing.handle(item, session)

    def answered(self, session: str, call_id: str, result: ToolResult) -> None:
        """A call of a session was answered."""
        self._sends(self._warming.output(session, call_id, result))

    def launched(self, job: Launch) -> None:
        """A call is run ahead."""
        self.pacing.launched(job)

    def ended(self, job: Launch, result: ToolResult | None) -> None:
        """It has come to its end."""
        self._ready.ended(job, result)
        self._sends(self._tool_cache.look(job.session))
        self._sends(self._warming.look(job.session))

    def settled(self, job: Settled) -> None:
        """It was asked for, or is worth nothing any more."""
        self.pacing.settled(job)
        self._ready.settled(job.session, job.job)

    def session_over(self, session: str) -> None:
        """Nothing was heard of it for long."""
        self.pacing.session_over(session)
        self._warming.session_over(session)
        self._tool_cache.over(session)

    def tick(self) -> None:
        """Time has passed."""
        self.pacing.tick()

    def release(self) -> None:
        """Nothing will decide any more: every turn that waits goes."""
        self.pacing.release()

    def _sends(self, sent: Iterable[Sent]) -> None:
        for one in sent:
            self.send(one)
