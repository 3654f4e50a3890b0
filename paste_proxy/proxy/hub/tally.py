"""What the sidecar counts; the one source of `/metrics`, `/paste/v1/stats` and every summary."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from paste_proxy.events.candidate import MODEL
from paste_proxy.events.types import Outcome, Why
from paste_proxy.proxy.hub.guess_tally import GuessTally
from paste_proxy.proxy.hub.learned import Learned
from paste_proxy.proxy.hub.pacing_tally import GateState, GateTally
from paste_proxy.proxy.hub.pattern_tally import PatternTally
from paste_proxy.proxy.hub.preparation_tally import PreparationTally
from paste_proxy.proxy.hub.spending import Spending
from paste_proxy.proxy.hub.warming_tally import WarmingTally
from paste_proxy.speculation.opportunities import Opportunity
from paste_proxy.speculation.staged_runs import StagedRuns
from paste_proxy.speculation.types import Settled
from paste_proxy.staging.tally import StageTally

_TOOLS_COUNTED_APART = 200
_COMMITTED = (Outcome.REUSED, Outcome.PROMOTED)


def printable(name: str) -> str:
    """A name from outside as it can be shown: half a surrogate pair, which no answer can hold, escaped."""
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode()


@dataclass(slots=True)
class ToolTally:
    """The account of one tool."""

    calls: Counter[str] = field(default_factory=Counter)
    """By decision: run, reused, promoted."""
    exposed_s: float = 0.0
    """Seconds sessions waited for it."""
    saved_s: float = 0.0
    would_save_s: float = 0.0


@dataclass(slots=True)
class Tally:
    """Plain sums since the start; times in seconds."""

    turns: int = 0
    incomplete_turns: int = 0
    utility_turns: int = 0
    """Side questions of clients, which are nobody's turns."""
    llm_s: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)
    """Authoritative calls by decision: run, reused, promoted."""
    launched: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    shadow_outcomes: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    side_effecting: int = 0
    """Of the refused: those that may have changed something, which no rule lets run ahead."""
    faults: Counter[str] = field(default_factory=Counter)
    dropped: int = 0
    exposed_s: float = 0.0
    saved_s: float = 0.0
    wasted_s: float = 0.0
    would_save_s: float = 0.0
    would_waste_s: float = 0.0
    past: Counter[str] = field(default_factory=Counter)
    """Calls that agents' own tools answered past the sidecar, by tool."""
    tools: dict[str, ToolTally] = field(default_factory=dict)
    patterns: dict[str, PatternTally] = field(default_factory=dict)
    """By what foresaw a call, above all a pattern's id; as many as a pool has."""
    guesses: GuessTally = field(default_factory=GuessTally)
    running: Callable[[], int] = lambda: 0
    """Speculative jobs under way, those included that an agent waits for."""
    preparations: PreparationTally = field(default_factory=PreparationTally)
    warming: WarmingTally = field(default_factory=WarmingTally)
    stages: StageTally | None = None
    """None: nothing is staged."""
    staged_runs: StagedRuns = field(default_factory=StagedRuns)
    gates: Callable[[], Iterable[tuple[str, GateTally, GateState]]] = lambda: ()
    """What turns stand before, by name."""
    learned: Callable[[], Learned] = Learned
    spending: Callable[[], Spending] = Spending
    opportunities: Callable[[int], Sequence[Opportunity]] = lambda most: ()
    """The biggest, so many of them."""
    now: Callable[[], float] = time.time
    """In seconds since 1970."""

    def tool(self, name: str) -> ToolTally:
        """The account of a tool; tools beyond a bound share one."""
        name = printable(name)
        account = self.tools.get(name)
        if account is None:
            if len(self.tools) >= _TOOLS_COUNTED_APART:
                name = "other"
            account = self.tools.setdefault(name, ToolTally())
        return account

    def beside(self, tools: Iterable[str]) -> None:
        """Calls of these tools were answered past the sidecar; tools beyond a bound count as one."""
        for name in map(printable, tools):
            apart = name in self.past or len(self.past) < _TOOLS_COUNTED_APART
            self.past[name if apart else "other"] += 1

    def fault(self, where: str) -> None:
        """Count a fault of ours that was contained."""
        self.faults[where] += 1

    def answered(self, tool: str, decision: str, waited: float) -> None:
        """An authoritative call was answered after `waited` seconds."""
        account = self.tool(tool)
        account.calls[decision] += 1
        account.exposed_s += waited
        self.calls[decision] += 1
        self.exposed_s += waited

    def settled(self, job: Settled) -> None:
        """A speculative job came to its end."""
        if job.rehearsal:
            self.preparations.rehearsed(job)
            self.wasted_s += 0.0 if job.why is Why.REHEARSED else job.ran_s
            return
        self.patterns.setdefault(job.source, PatternTally()).settled(job, self.now())
        self.staged_runs.add(job)
        wasted = 0.0 if job.outcome in _COMMITTED else job.ran_s
        account = self.tool(job.invocation.tool)
        if job.shadow:
            self.shadow_outcomes[job.outcome.value] += 1
            self.would_save_s += job.saved_s
            self.would_waste_s += wasted
            account.would_save_s += job.saved_s
        else:
            self.outcomes[job.outcome.value] += 1
            self.saved_s += job.saved_s
            self.wasted_s += wasted
            account.saved_s += job.saved_s
            if job.source == MODEL and job.outcome in _COMMITTED:
                self.guesses.hits += 1
                self.guesses.saved_s += job.saved_s
