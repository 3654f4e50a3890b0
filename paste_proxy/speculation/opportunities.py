"""Calls that were foreseen, not run ahead because of a rule or a bound, and then really asked for: the seconds that
this cost, and what would allow them.

What is saved by one is the shorter of its time and the lead that its first refusal had on it, as with a job. Memory is
bounded: of refusals the latest are remembered, of opportunities the biggest.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.speculation.types import Asked, CallEnded, Reason, Refused

_REFUSALS, _CALLS, _KINDS = 2_048, 1_024, 256
_BOUNDS = (Reason.BUDGET, Reason.CALLS, Reason.MONEY, Reason.BYTES, Reason.CPU, Reason.WASTE, Reason.RATE)


@dataclass(slots=True)
class Opportunity:
    """Calls of one tool that were all refused alike."""

    tool: str
    reason: Reason
    advice: str
    """What would allow them: a rule, a key of one, or a bound."""
    calls: int = 0
    saved_s: float = 0.0
    """Seconds that would have been saved."""


@dataclass(frozen=True, slots=True)
class _Foreseen:
    at: float
    tool: str
    reason: Reason
    advice: str


class Opportunities:
    """What was missed.

    Args:
        core: what makes two calls the same.
        least: probability below which nothing would have been run ahead anyway.
        ttl_s: a call foreseen longer ago would have been run in vain.
    """

    def __init__(self, core: Callable[[Invocation], Invocation], *, least: float, ttl_s: float) -> None:
        self._core, self._least, self._ttl_s = core, least, ttl_s
        self._foreseen: OrderedDict[tuple[str, str], _Foreseen] = OrderedDict()
        self._asked: OrderedDict[int, tuple[float, _Foreseen]] = OrderedDict()
        self._missed: dict[tuple[str, Reason, str], Opportunity] = {}

    def refused(self, refused: Refused, now: float, *, stages: bool = False) -> None:
        """A candidate was not run ahead.

        Args:
            stages: whether something connected could hold its effects back.
        """
        said = advice(refused, stages=stages)
        if said is None or refused.confidence < self._least:
            return
        key = refused.session, self._core(refused.invocation).key
        known = self._foreseen.pop(key, None)
        if known is None or now - known.at > self._ttl_s:
            known = _Foreseen(now, refused.invocation.tool, refused.reason, said)
        self._foreseen[key] = known
        if len(self._foreseen) > _REFUSALS:
            self._foreseen.popitem(last=False)

    def asked(self, asked: Asked, now: float) -> None:
        """The agent asks for a call."""
        foreseen = self._foreseen.pop((asked.session, self._core(asked.invocation).key), None)
        if foreseen is None or now - foreseen.at > self._ttl_s:
            return
        self._asked[asked.call] = now, foreseen
        if len(self._asked) > _CALLS:
            self._asked.popitem(last=False)

    def served(self, call: int) -> None:
        """A call was answered from a job all the same."""
        self._asked.pop(call, None)

    def ended(self, ended: CallEnded, now: float) -> None:
        """A call that was run is over."""
        asked = self._asked.pop(ended.call, None)
        if asked is None or ended.status is not Status.OK:
            return
        at, foreseen = asked
        key = foreseen.tool, foreseen.reason, foreseen.advice
        missed = self._missed.setdefault(key, Opportunity(*key))
        missed.calls += 1
        missed.saved_s += min(now - at, at - foreseen.at)
        if len(self._missed) > _KINDS:
            del self._missed[min(self._missed, key=lambda each: self._missed[each].saved_s)]

    def biggest(self, most: int) -> list[Opportunity]:
        """Those that would have saved most, the first before all."""
        return sorted(self._missed.values(), key=lambda each: -each.saved_s)[:most]


def advice(refused: Refused, *, stages: bool) -> str | None:
    """What would have let a candidate be run ahead; None: nothing that a person could say here and now.

    Args:
        stages: whether something connected could hold its effects back.
    """
    tool, rule = refused.invocation.tool, refused.rule
    match refused.reason:
        case Reason.POLICY if not rule and stages:
            return f'[[rule]] tool = "{tool}", effect = "write", stage = true'
        case Reason.POLICY if not rule:
            return f'if it only reads: [[rule]] tool = "{tool}", effect = "read"'
        case Reason.POLICY if refused.writes:
            return f"stage = true in {rule}" if stages else None
        case Reason.POLICY:
            return f"speculate = true in {rule}"
        case Reason.MODE:
            return f'mode = "speculate" in {rule}'
        case Reason.DESTINATION:
            return f"its destination in {rule}, or more in speculation.destinations"
        case Reason.NOT_EXECUTABLE:
            return "offer it through the sidecar: [mcp.NAME] or [tools.NAME]"
        case reason if reason in _BOUNDS and refused.limit:
            return f"raise {refused.limit}"
        case _:
            return None
