"""All budgets of calls run ahead: what is left of them, asked before each and charged with each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.budgets.allotment import UNBOUNDED, Allotment
from paste_proxy.speculation.budgets.backoff import Backoff
from paste_proxy.speculation.budgets.limited import Limited, limited
from paste_proxy.speculation.budgets.minute import Times
from paste_proxy.speculation.budgets.pauses import Pauses
from paste_proxy.speculation.budgets.used import Book, Used
from paste_proxy.speculation.budgets.waste import Door, WasteBreaker
from paste_proxy.speculation.types import Reason

_ROUNDING = 1e-9


class Span(StrEnum):
    """Over what a bound is counted."""

    MINUTE = "minute"
    SESSION = "session"
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimits:
    """Bounds over all calls run ahead; None: no bound."""

    calls_per_minute: int | None = None
    calls_per_day: int | None = None
    money_per_session: float | None = None
    money_per_day: float | None = None
    bytes_per_day: int | None = None
    """Of results, asked for or not. Those under way come on top, as with CPU time."""
    cpu_s_per_day: float | None = None
    """As far as what runs a call tells it."""
    wasted_s_per_minute: float | None = None
    """Beyond it only calls that stand complete in an LLM's answer are run ahead, until that has calmed."""


NO_BUDGET = BudgetLimits()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a candidate is not launched."""

    reason: Reason
    limit: str = ""
    """The bound that it came to, as it is configured: `budget.calls_per_day`, `slack of policies/web.toml: rule 2`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A call that is to be run ahead, as far as budgets care."""

    tool: str
    session: str
    rule: str
    """The place of the rule that allows it."""
    sealed: bool = False
    """It stands complete in an LLM's answer."""


@dataclass(frozen=True, slots=True)
class Use:
    """How much of a bound is used."""

    name: str
    used: float
    limit: float
    span: Span


@dataclass(frozen=True, slots=True)
class _Bound:
    reason: Reason
    name: str
    used: float
    more: float
    """What the next call takes of it; a call that takes nothing never comes to it."""
    limit: float | None
    span: Span


class Budgets:
    """What is used, and what that leaves.

    Args:
        limits: of all calls together.
        allotments: of rules, by their places.
    """

    def __init__(self, limits: BudgetLimits, allotments: Mapping[str, Allotment]) -> None:
        self._limits = limits
        self._allotments = {place: one for place, one in allotments.items() if one != UNBOUNDED}
        self.book = Book()
        """What is kept over a restart, as `pauses` are; the calls of a minute are not."""
        self._minute = Times(limits.calls_per_minute or 1)
        self._minutes = {place: Times(one.calls_per_minute or 1) for place, one in self._allotments.items()}
        self._rates = {place: _Rate(one) for place, one in self._allotments.items() if one.rate_limit is not None}
        self._waste = WasteBreaker(limits.wasted_s_per_minute)
        self._backoff = Backoff()

    def cost(self, rule: str) -> float:
        """What a call under a rule costs."""
        return self._allotments.get(rule, UNBOUNDED).cost

    def refusal(self, charge: Charge, running: int, now: float) -> Refusal | None:
        """What stands against running a call ahead beside so many that run ahead now."""
        if self._backoff.closed(charge.tool, now):
            return Refusal(Reason.BACKOFF)
        rate = self._rates.get(charge.rule)
        if rate is not None and not rate.free(now):
            return Refusal(Reason.RATE, f"slack of {charge.rule}")
        for bound in (
            *self._of_all(charge.session, charge.rule, now),
            *self._of_rule(charge.session, charge.rule, now),
        ):
            if bound.limit is not None and bound.more and bound.used + bound.more > bound.limit + _ROUNDING:
                return Refusal(bound.reason, bound.name)
        if not charge.sealed and not self._waste.admits(running, now):
            return Refusal(Reason.WASTE, "budget.wasted_s_per_minute")
        return None

    def launched(self, charge: Charge, now: float) -> None:
        """A call is run ahead."""
        used = Used(calls=1, money=self.cost(charge.rule))
        self._minute.add(now)
        if charge.rule in self._allotments:
            used.rules[charge.rule] = 1
            self._minutes[charge.rule].add(now)
        if charge.rule in self._rates:
            self._rates[charge.rule].guesses.add(now)
        self.book.charge(charge.session, used)

    def called(self, rule: str, now: float) -> None:
        """A call of the agent's own goes out."""
        if rule in self._rates:
            self._rates[rule].agent.add(now)

    def ended(self, session: str, result: ToolResult) -> None:
        """A call run ahead has its result."""
        self.book.charge(session, Used(bytes=len(result.body), cpu_s=result.cpu_s or 0.0))

    def wasted(self, seconds: float, now: float) -> None:
        """A call run ahead came to nothing after so long."""
        self._waste.wasted(seconds, now)

    def answered(self, tool: str, result: ToolResult, now: float) -> None:
        """A call of the tool was answered, whoever made it."""
        said = limited(result)
        if said is not None:
            self.limited(tool, said, now)
        elif result.status is Status.OK:
            self._backoff.fine(tool, now)

    def limited(self, tool: str, said: Limited, now: float) -> None:
        """The service of a tool wants fewer calls."""
        self._backoff.limited(tool, said, now)

    def uses(self, now: float) -> list[Use]:
        """How much of each bound is used, those of all first; what is a session's own is left out."""
        bounds = [
            *self._of_all("", "", now),
            *(bound for rule in self._allotments for bound in self._of_rule("", rule, now)),
        ]
        uses = [
            Use(bound.name, bound.used, bound.limit, bound.span)
            for bound in bounds
            if bound.limit is not None and bound.span is not Span.SESSION
        ]
        uses += [
            Use(f"rate_limit of {rule}", rate.taken(now), rate.limit, Span.MINUTE) for rule, rate in self._rates.items()
        ]
        if (most := self._limits.wasted_s_per_minute) is not None:
            uses.append(Use("budget.wasted_s_per_minute", self._waste.wasted_s(now), most, Span.MINUTE))
        return uses

    def door(self, now: float) -> Door:
        """How the waste breaker stands."""
        return self._waste.door(now)

    def pauses(self, now: float) -> Pauses:
        """What keeps calls from being run ahead for a while."""
        return Pauses(now, self._backoff.running(now), self._waste.running(now))

    def resume(self, pauses: Pauses, now: float) -> None:
        """Go on with those of another process, in terms of this one's clock."""
        self._backoff.resume(pauses.closed, now)
        self._waste.resume(pauses.waste, now)

    def closed(self, now: float) -> list[tuple[str, float]]:
        """Tools whose service wants fewer calls, and for how many seconds more they are left alone."""
        return self._backoff.tools(now)

    def _of_all(self, session: str, rule: str, now: float) -> Iterator[_Bound]:
        limits, day, cost = self._limits, self.book.record.used, self.cost(rule)
        spent, minute = self.book.record.of(session), self._minute.count(now)
        for reason, key, used, more, limit, span in (
            (Reason.CALLS, "calls_per_minute", minute, 1, limits.calls_per_minute, Span.MINUTE),
            (Reason.CALLS, "calls_per_day", day.calls, 1, limits.calls_per_day, Span.DAY),
            (Reason.MONEY, "money_per_session", spent.money, cost, limits.money_per_session, Span.SESSION),
            (Reason.MONEY, "money_per_day", day.money, cost, limits.money_per_day, Span.DAY),
            (Reason.BYTES, "bytes_per_day", day.bytes, 1, limits.bytes_per_day, Span.DAY),
            (Reason.CPU, "cpu_s_per_day", day.cpu_s, 2 * _ROUNDING, limits.cpu_s_per_day, Span.DAY),
        ):
            yield _Bound(reason, f"budget.{key}", used, more, limit, span)

    def _of_rule(self, session: str, rule: str, now: float) -> Iterator[_Bound]:
        own = self._allotments.get(rule)
        if own is None:
            return
        day, spent = self.book.record.used.rules[rule], self.book.record.of(session).rules[rule]
        for key, used, limit, span in (
            ("calls_per_minute", self._minutes[rule].count(now), own.calls_per_minute, Span.MINUTE),
            ("calls_per_session", spent, own.calls_per_session, Span.SESSION),
            ("calls_per_day", day, own.calls_per_day, Span.DAY),
        ):
            yield _Bound(Reason.CALLS, f"{key} of {rule}", used, 1, limit, span)


class _Rate:
    """The calls of a minute to a service that takes only so many; what is run ahead uses a share of what is left."""

    def __init__(self, allotment: Allotment) -> None:
        self.limit, self._slack = allotment.rate_limit or 0, allotment.slack
        self.agent, self.guesses = Times(self.limit), Times(self.limit)

    def free(self, now: float) -> bool:
        """Whether one more may be run ahead."""
        left = self._slack * (self.limit - self.agent.count(now))
        return self.guesses.count(now) + 1 <= left + _ROUNDING

    def taken(self, now: float) -> int:
        """Calls of the last minute."""
        return self.agent.count(now) + self.guesses.count(now)
