"""Who ran what, when, and which run each asked call was answered by.

Told from the tools' and the agents' own books alone, not from what the sidecar says of itself.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation


@dataclass(frozen=True, slots=True)
class Ask:
    """A call the agent made; times in uncompressed seconds of one clock."""

    session: str
    invocation: Invocation
    asked: float
    answered: float


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool that ran, to its end or until it was cancelled."""

    world: str
    invocation: Invocation
    began: float
    ended: float
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A call answered by a run that had begun before it was asked."""

    ask: Ask
    run: ToolRun

    @property
    def hidden_s(self) -> float:
        """Seconds of the run that passed before the call."""
        return min(self.run.ended, self.ask.asked) - self.run.began


@dataclass(frozen=True, slots=True)
class Account:
    """Hits, and the runs that nobody asked for."""

    hits: tuple[Hit, ...]
    wasted: tuple[ToolRun, ...]

    @property
    def wasted_s(self) -> float:
        """Tool seconds of the wasted runs."""
        return sum(run.ended - run.began for run in self.wasted)


def settle(asks: Iterable[Ask], runs: Iterable[ToolRun], world_of: dict[str, str]) -> Account:
    """Pair asks with runs: a run that began while the call waited is its own; else the latest earlier one.

    Args:
        asks: calls of all sessions.
        runs: runs of all worlds.
        world_of: session -> the world its tools run in.
    """
    free: dict[tuple[str, str], list[ToolRun]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.began):
        free[run.world, run.invocation.key].append(run)
    early: list[Ask] = []
    for ask in sorted(asks, key=lambda ask: ask.asked):
        own = free[world_of[ask.session], ask.invocation.key]
        during = next((run for run in own if ask.asked <= run.began <= ask.answered), None)
        if during is None:
            early.append(ask)
        else:
            own.remove(during)
    hits = []
    for ask in early:
        earlier = [
            run
            for run in free[world_of[ask.session], ask.invocation.key]
            if run.began < ask.asked and run.ended <= ask.answered and not run.cancelled
        ]
        if earlier:
            free[world_of[ask.session], ask.invocation.key].remove(earlier[-1])
            hits.append(Hit(ask, earlier[-1]))
    wasted = tuple(run for rest in free.values() for run in rest)
    return Account(hits=tuple(hits), wasted=wasted)
