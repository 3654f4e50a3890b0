"""How much of each budget is used, as it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from paste_proxy.speculation.budgets.budgets import Budgets, Use
from paste_proxy.speculation.budgets.used import Used
from paste_proxy.speculation.budgets.waste import Door


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """One look at the budgets."""

    today: Used = field(default_factory=Used)
    """Whether it is bounded or not, earlier sidecars' included."""
    uses: Sequence[Use] = ()
    """Of each bound."""
    door: Door = Door.OPEN
    """How the waste breaker stands."""
    closed: Sequence[tuple[str, float]] = ()
    """Tools whose service wants fewer calls, and for how many seconds more they are left alone."""

    @classmethod
    def of(cls, budgets: Budgets, now: float) -> "Spending":
        """As it stands now, in seconds of the clock that the budgets go by."""
        return cls(
            today=budgets.book.record.used, uses=budgets.uses(now), door=budgets.door(now), closed=budgets.closed(now)
        )
