"""What a policy rule says of the cost of its calls."""

from dataclasses import dataclass

from paste_proxy.speculation.fields import Fields

_A_COUNT = "a whole number, more than 0"
_COUNTS = ("calls_per_minute", "calls_per_session", "calls_per_day", "rate_limit")
ALLOTMENT_KEYS = (*_COUNTS, "cost", "slack")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allotment:
    """Bounds of the calls of one rule, over all tools that it names; None: no bound."""

    calls_per_minute: int | None = None
    """Run ahead, as in the next two."""
    calls_per_session: int | None = None
    calls_per_day: int | None = None
    cost: float = 0.0
    """Of each call, in the currency of all amounts."""
    rate_limit: int | None = None
    """Calls a minute that the service takes in all, the agent's own included."""
    slack: float = 0.5
    """The share of what the agent leaves of it that may go to calls run ahead."""


UNBOUNDED = Allotment()


def read_allotment(fields: Fields) -> Allotment:
    """The allotment of a rule's table.

    Raises:
        InputFault: a key of it is wrong.
    """
    counts = {key: _count(fields, key) for key in _COUNTS}
    slack = fields.share("slack")
    if slack is not None and counts["rate_limit"] is None:
        raise fields.fault("slack", "a rate_limit beside it, of which it is a share")
    cost = fields.number("cost", "money, 0 or more")
    if cost is not None and cost < 0:
        raise fields.fault("cost", "money, 0 or more")
    return Allotment(**counts, cost=cost or 0.0, slack=UNBOUNDED.slack if slack is None else slack)


def _count(fields: Fields, key: str) -> int | None:
    number = fields.number(key, _A_COUNT)
    if number is not None and (number < 1 or not number.is_integer()):
        raise fields.fault(key, _A_COUNT)
    return None if number is None else int(number)
