"""Candidates that found no room: they are tried again, best first, while the turn they were predicted in lasts."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from paste_proxy.speculation.admission import Admit
from paste_proxy.speculation.ledger import Place

PATIENCE_S = 10.0
"""About the longest usual LLM turn: later, the agent has asked for it or for something else."""
_MOST = 128
"""The oldest go first; a longer queue would hold only what lapses."""


@dataclass(frozen=True, slots=True)
class Waiter:
    """A candidate that was admitted, and until when it is worth a try."""

    session: str
    scope: str
    admit: Admit
    until: float


class Waiting:
    """At most one candidate a place."""

    def __init__(self) -> None:
        self._waiters: OrderedDict[Place, Waiter] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiters)

    def __iter__(self) -> Iterator[Waiter]:
        return iter(self._waiters.values())

    def add(self, place: Place, waiter: Waiter) -> None:
        """Let a candidate wait; a newer prediction of the same replaces the older."""
        self._waiters.pop(place, None)
        self._waiters[place] = waiter
        if len(self._waiters) > _MOST:
            self._waiters.popitem(last=False)

    def by_utility(self, now: float) -> list[tuple[Place, Waiter]]:
        """Everything that still may be tried, the most useful first; what waited too long is dropped."""
        self._waiters = OrderedDict((place, each) for place, each in self._waiters.items() if each.until > now)
        return sorted(self._waiters.items(), key=lambda one: one[1].admit.worth.utility, reverse=True)

    def drop(self, place: Place) -> None:
        """It waits no longer."""
        self._waiters.pop(place, None)

    def revise(self, revised: Callable[[Waiter], Waiter | None]) -> None:
        """Have each candidate looked at anew: what it becomes, or None if it is to wait no longer."""
        looked_at = [(place, revised(each)) for place, each in self._waiters.items()]
        self._waiters = OrderedDict((place, each) for place, each in looked_at if each is not None)

    def forget(self, session: str | None) -> None:
        """Drop a session's candidates, or all."""
        kept = {place: each for place, each in self._waiters.items() if session not in (None, each.session)}
        self._waiters = OrderedDict(kept)
