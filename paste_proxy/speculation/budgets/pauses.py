"""What is still running of back-offs and of a waste breaker, as it outlives a process.

Times are one clock's, and `shifted` puts them in terms of another: of a process's own clock, or of the one on the wall,
which alone goes on between two processes. A clock on the wall may be set back, so that what was kept is kept in its
future: then it is as if it had been kept just now, and no pause is longer than what was left of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from paste_proxy.speculation.budgets.backoff import Closed
from paste_proxy.speculation.budgets.waste import NO_WASTE, Waste


@dataclass(frozen=True, slots=True)
class Pauses:
    """All that runs; equal to another if the same runs, whenever that was looked at."""

    at: float = field(compare=False)
    """When it was looked at."""
    closed: tuple[Closed, ...] = ()
    waste: Waste = NO_WASTE

    def shifted(self, by: float) -> "Pauses":
        """The same in terms of a clock that shows so much more."""
        waste = replace(
            self.waste,
            amounts=tuple((at + by, seconds) for at, seconds in self.waste.amounts),
            ajar_since=self.waste.ajar_since + by,
        )
        return Pauses(self.at + by, tuple(replace(one, until=one.until + by) for one in self.closed), waste)

    def as_of(self, now: float) -> "Pauses":
        """What runs of it by now, by the clock that it was kept by, even if that was set back."""
        kept = self.shifted(min(0.0, now - self.at))
        return replace(kept, closed=tuple(one for one in kept.closed if one.until > now))

    def beside(self, others: Iterable[Closed]) -> "Pauses":
        """With the tools that others have closed; of a tool what is closed longest."""
        latest: dict[str, Closed] = {}
        for one in sorted((*self.closed, *others), key=lambda one: one.until):
            latest.pop(one.tool, None)
            latest[one.tool] = one
        return replace(self, closed=tuple(latest.values()))
