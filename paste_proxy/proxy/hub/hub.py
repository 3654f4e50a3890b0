"""The single task that owns session and speculation state.

Edges put what they see into the inbox; the hub's task takes it out in order and gives it to the
conductor. A fault while handling an item is counted and voids every speculative result, since a write
may have gone unnoticed; the item's call is then simply run.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import count

import structlog

from paste_proxy.clock import Clock
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.hub.conductor import Conductor
from paste_proxy.proxy.hub.observed import (
    ExchangeOver,
    Observed,
    OutputTold,
    PartSeen,
    RequestSeen,
    RequestUnread,
    ScopeGone,
    ToolAnswered,
    ToolAsked,
)
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.thinking import Foreseen
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.ports import NO_ARGUMENTS, AgentCall, Decision, RunIt
from paste_proxy.speculation.hints import NO_HINTS, Hints
from paste_proxy.speculation.types import Committed, JobEnded, ObservationLost
from paste_proxy.speculators.guess import Guessed
from paste_proxy.tools.backend import Backend
from paste_proxy.turns.types import Admit

log = structlog.get_logger(__name__)

_ITEMS_PER_ROUND = 64
"""Items handled before other tasks get the loop again."""
_HOUSEKEEPING_S = 30.0
_NEVER_LOST = JobEnded | Committed | Guessed | ExchangeOver
"""Each is the end of something that was begun here; there are no more of them than of these."""


class Hub:
    """Implements `ToolGate` for the tool routes and takes what the LLM watch posts.

    Args:
        deadline: when the scheduler next wants to be told the time, if at all.
        inbox_limit: items waiting beyond which observation is dropped and counted.
    """

    def __init__(
        self,
        *,
        toolbox: Toolbox,
        deadline: Callable[[], float | None],
        tally: Tally,
        clock: Clock,
        inbox_limit: int,
    ) -> None:
        self._toolbox, self._deadline, self._tally, self._clock = toolbox, deadline, tally, clock
        self._inbox: deque[Observed] = deque()
        self._inbox_limit = inbox_limit
        self._lost = False
        self._wake = asyncio.Event()
        self._numbers = count(1)
        self._catch_up: Callable[[], None] = lambda: None
        self._task: asyncio.Task[None] | None = None

    # --- edges ------------------------------------------------------------------------------------

    def post(self, item: Observed) -> None:
        """Put an item into the inbox. Raises nothing."""
        if self._task is not None and self._task.done():
            _let_go(item)
        elif len(self._inbox) < self._inbox_limit or isinstance(item, _NEVER_LOST):
            self._inbox.append(item)
        elif not isinstance(item, PartSeen | Foreseen):
            self._lost = True
            self._tally.dropped += 1
            _let_go(item)
        self._wake.set()

    async def ask(self, call: AgentCall) -> Decision:
        """Run or serve a tool call; see `ToolGate`."""
        ticket = next(self._numbers)
        if self._task is None or self._task.done():
            return RunIt(ticket)
        reply: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        item = ToolAsked(call, ticket, reply)
        self._catch_up()
        self.post(item)
        try:
            return await reply
        except asyncio.CancelledError:
            if _is_under_way(item):
                self.post(ToolAnswered(ticket, None))
            raise

    def ended(self, ticket: int, result: ToolResult | None) -> None:
        """A call that was run is over; see `ToolGate`."""
        self.post(ToolAnswered(ticket, result))

    def offer(
        self,
        scope: str,
        server: str,
        backend: Backend,
        tools: Iterable[str],
        *,
        session: str | None = None,
        beside: Mapping[str, frozenset[str]] = NO_ARGUMENTS,
        hints: Mapping[str, Hints] = NO_HINTS,
    ) -> None:
        """Tools of a connection can be run speculatively; see `ToolGate`."""
        worse = self._toolbox.offer(scope, server, backend, tools, session=session, beside=beside, hints=hints)
        if worse:  # what was taken for a read may have been a write that nobody saw
            self._lost = True
            self._wake.set()

    def withdraw(self, scope: str) -> None:
        """A connection is gone; see `ToolGate`."""
        self._toolbox.withdraw(scope)
        self.post(ScopeGone(scope))

    # --- life -------------------------------------------------------------------------------------

    def start(self, conductor: Conductor, catch_up: Callable[[], None] = lambda: None) -> None:
        """Start the hub's task on the running loop.

        Args:
            catch_up: posts what clients have been given and nobody has looked at yet; a call may rest on it.
        """
        self._catch_up = catch_up
        self._task = asyncio.create_task(self._live(conductor), name="hub")
        self._task.add_done_callback(lambda _: self._let_everyone_run(conductor))

    async def close(self) -> None:
        """Stop; calls still waiting are run."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _let_everyone_run(self, conductor: Conductor) -> None:
        for item in self._inbox:
            _let_go(item)
        conductor.release()
        self._contain(conductor.conclude)

    async def _live(self, conductor: Conductor) -> None:
        housekeeping = self._clock.monotonic() + _HOUSEKEEPING_S
        while True:
            if self._lost:
                self._lost = False
                self._contain(lambda: conductor.tell(ObservationLost()))
            for _ in range(min(len(self._inbox), _ITEMS_PER_ROUND)):
                self._take(conductor, self._inbox.popleft())
            if self._clock.monotonic() >= housekeeping:
                self._contain(conductor.housekeep)
                housekeeping = self._clock.monotonic() + _HOUSEKEEPING_S
            if self._inbox or self._lost:
                await asyncio.sleep(0)
            elif not await self._woken(min(self._deadline() or housekeeping, housekeeping)):
                self._contain(conductor.tick)

    async def _woken(self, deadline: float) -> bool:
        self._wake.clear()
        try:
            async with asyncio.timeout(max(0.0, deadline - self._clock.monotonic())):
                await self._wake.wait()
        except TimeoutError:
            return False
        return True

    def _take(self, conductor: Conductor, item: Observed) -> None:
        handled = False
        try:
            handled = self._contain(lambda: conductor.handle(item))
        finally:
            if not handled:
                _let_go(item)

    def _contain(self, act: Callable[[], None]) -> bool:
        try:
            act()
        except Exception:
            self._tally.fault("hub")
            self._lost = True
            log.exception("hub_fault")
            return False
        return True


def _is_under_way(item: ToolAsked) -> bool:
    """Of a call whose asker gives up: whether the hub waits for its end. One served is over already."""
    return item.taken if item.reply.cancelled() else isinstance(item.reply.result(), RunIt)


def _let_go(item: Observed) -> None:
    """Nobody will decide on it: a call that waits is run, a turn that waits goes."""
    match item:
        case OutputTold(done=done) if not done.done():
            done.set_result(False)
        case ToolAsked(reply=reply, ticket=ticket) if not reply.done():
            reply.set_result(RunIt(ticket))
        case RequestSeen(exchange=exchange) | RequestUnread(exchange=exchange):
            waiting = exchange.waiting
            if waiting is not None and not waiting.entry.done():
                waiting.entry.set_result(Admit(turn=exchange.number, waited_s=0.0))
