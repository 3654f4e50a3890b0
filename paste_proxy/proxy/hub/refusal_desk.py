"""Candidates that were not run ahead: counted, told to the log a minute at a time, and what was missed by it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from paste_proxy.clock import Clock
from paste_proxy.events.candidate import Candidate
from paste_proxy.events.types import Event, Refusals
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.speculation.opportunities import Opportunities
from paste_proxy.speculation.types import Asked, CallEnded, Reason, Refused, Serve, Told

_MINUTE_S = 60.0
_KINDS = 512
"""Kept apart in a minute; more of them are told sooner."""
_SIDE_EFFECTING = (Reason.POLICY, Reason.APPROVAL)


@dataclass(frozen=True, slots=True)
class _Kind:
    session: str
    tool: str
    reason: Reason
    rule: str
    writes: bool


class RefusalDesk:
    """Takes every refusal.

    Args:
        stages: whether something connected could hold back the effects of what was refused.
    """

    def __init__(
        self,
        tally: Tally,
        clock: Clock,
        opportunities: Opportunities,
        stages: Callable[[Refused], bool] = lambda refused: False,
    ) -> None:
        self._tally, self._clock, self._opportunities, self._stages = tally, clock, opportunities, stages
        self._counted: Counter[_Kind] = Counter()
        self._since = 0.0

    def refused(self, refused: Refused) -> None:
        """A candidate was not launched."""
        self._tally.refused[refused.reason.value] += 1
        self._tally.side_effecting += refused.writes and refused.reason in _SIDE_EFFECTING
        now = self._clock.monotonic()
        if not self._counted:
            self._since = now
        kind = _Kind(refused.session, refused.invocation.tool, refused.reason, refused.rule, refused.writes)
        self._counted[kind] += 1
        self._opportunities.refused(refused, now, stages=self._stages(refused))

    def not_executable(self, session: str, candidate: Candidate) -> None:
        """Nothing can run a candidate."""
        self.refused(
            Refused(
                session=session,
                invocation=candidate.invocation,
                source=candidate.source,
                reason=Reason.NOT_EXECUTABLE,
                confidence=candidate.confidence,
            )
        )

    def heard(self, told: Told | Serve) -> None:
        """A call was asked for, served, or is over."""
        now = self._clock.monotonic()
        match told:
            case Asked():
                self._opportunities.asked(told, now)
            case Serve(call=call):
                self._opportunities.served(call)
            case CallEnded():
                self._opportunities.ended(told, now)
            case _:
                pass

    def due(self, *, at_once: bool = False) -> list[Event]:
        """What is to be told to the log by now."""
        if not at_once and len(self._counted) < _KINDS and self._clock.monotonic() - self._since < _MINUTE_S:
            return []
        counted, self._counted = self._counted, Counter()
        return [
            Refusals(
                session=kind.session,
                ts=self._clock.epoch(),
                tool=kind.tool,
                reason=kind.reason.value,
                rule=kind.rule,
                count=count,
                writes=kind.writes,
            )
            for kind, count in counted.items()
        ]
