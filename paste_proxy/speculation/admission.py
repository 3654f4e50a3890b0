"""The four admission checks of a candidate (PASTE 4.2), as a value.

Executable, confident enough, policy-safe within its mode and useful; the fourth, room in the budget, is the lanes'.
Where the budget is full, a clearly better candidate takes the place of the least useful job. What the policy refuses is
what would have been confident enough: a rule could turn it into hits, and of those of it that may change something
PASTE (6.8) gives the number.
"""

from collections.abc import Container
from dataclasses import dataclass
from typing import TypeAlias

from paste_proxy.events.candidate import NARROWED, Candidate
from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.speculation.limits import SpeculationLimits
from paste_proxy.speculation.policy import Ruling
from paste_proxy.speculation.types import Destination, Mode, Reason
from paste_proxy.speculation.utility import Worth

CLEARLY_BETTER = 2.0
"""A candidate displaces a running job only at this many times its utility: a displaced job's work is lost,
and estimates this rough differ by less for no reason."""

_LEAST_OF_BEGUN = 0.3
"""Of a call that has begun: it will stand complete in a moment and be run then in any case, so that little is
gained. On recorded agents, below this it cost four seconds of a tool for nothing for each second saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admit:
    """The candidate may run, budget allowing."""

    candidate: Candidate
    ruling: Ruling
    worth: Worth
    shadow: bool
    """Only to be accounted for, not to be run."""
    rehearsal: Invocation | None = None
    """What is run in the candidate's place, without a use for its result."""


Admission: TypeAlias = Admit | Reason


def barrier(ruling: Ruling, destinations: Container[Destination], mode: Mode) -> Reason | None:
    """Why no call under that ruling is run ahead, however likely and useful; None: it may be.

    Args:
        destinations: who may learn of a guess.
        mode: the global one; the rule's never exceeds it.
    """
    if ruling.approval:
        return Reason.APPROVAL
    if not ruling.allowed:
        return Reason.POLICY
    if ruling.destination not in destinations:
        return Reason.DESTINATION
    return Reason.MODE if Mode.OFF in (mode, ruling.mode) else None


def admit(candidate: Candidate, ruling: Ruling, worth: Worth, limits: SpeculationLimits, mode: Mode) -> Admission:
    """The first three checks; `mode` is the global one and the rule's never exceeds it."""
    if not name_of(candidate.invocation.tool):
        return Reason.NOT_EXECUTABLE
    least = least_confidence(ruling, limits)
    if candidate.confidence < (max(least, _LEAST_OF_BEGUN) if candidate.source == NARROWED else least):
        return Reason.CONFIDENCE
    if (reason := barrier(ruling, limits.destinations, mode)) is not None:
        return reason
    if worth.benefit_s < limits.min_benefit_s:
        return Reason.BENEFIT
    return Admit(candidate=candidate, ruling=ruling, worth=worth, shadow=Mode.OBSERVE in (mode, ruling.mode))


def least_confidence(ruling: Ruling, limits: SpeculationLimits) -> float:
    """Below which nothing is run ahead."""
    return limits.min_confidence if ruling.min_confidence is None else ruling.min_confidence
