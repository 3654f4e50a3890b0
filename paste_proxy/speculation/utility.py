"""What a speculative job is worth (PASTE 4.2): expected utility per unit of resource.

Utility is confidence times the tool time likely to be hidden, per slot-second the job is expected to
take. Hidden time is the shorter of the tool's duration and the lead, the time from the prediction to the
agent's own call. Both are learned from recent runs, with a stated guess before the first.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from statistics import fmean, median

from paste_proxy.events.candidate import MODEL, NARROWED, SEALED, Candidate
from paste_proxy.speculation.policy import Ruling

_UNKNOWN_S = 1.0
"""A tool nobody has timed: long enough to be tried once where it looks likely, and timed by that."""
_LEAD_S = 4.0
"""An LLM turn between an output and the next call, before the first was seen."""
_MODEL_LEAD_S = 3.0
"""The same less the time that a speculative LLM takes to guess."""
_SEALED_LEAD_S = 0.5
"""The rest of a turn after one of its calls is complete."""
_NARROWED_LEAD_S = 1.0
"""The rest of a turn after one of its calls is begun, before the first was seen."""
_LEAST_LEAD_S = 0.05
"""A few late predictions must not shut a predictor out for good: shut out, it could not show better."""
_LEAST_DEMAND_S = 0.05
"""Below this a job costs its start, not its time."""
_WRITTEN = (SEALED, NARROWED)
_PATTERN = ""
"""Patterns are many and foresee at the same moments, so that they share their leads."""
_RUNS = 32
_LEADS = 64
_TOOLS = 1_024


@dataclass(frozen=True, slots=True)
class Worth:
    """What one candidate is expected to bring, in seconds, and per slot-second."""

    expected_s: float
    """How long the tool is expected to run."""
    benefit_s: float
    utility: float


class Experience:
    """Recent durations by tool and recent leads by kind of predictor; windows are bounded."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, deque[float]] = OrderedDict()
        self._leads = {
            SEALED: deque([_SEALED_LEAD_S], _LEADS),
            NARROWED: deque([_NARROWED_LEAD_S], _LEADS),
            MODEL: deque([_MODEL_LEAD_S], _LEADS),
            _PATTERN: deque([_LEAD_S], _LEADS),
        }

    def ran(self, tool: str, seconds: float) -> None:
        """A run of the tool took so long."""
        runs = self._runs.setdefault(tool, deque(maxlen=_RUNS))
        self._runs.move_to_end(tool)
        runs.append(seconds)
        if len(self._runs) > _TOOLS:
            self._runs.popitem(last=False)

    def led(self, source: str, seconds: float) -> None:
        """A job of this source started so long before the agent asked for the same."""
        self._leads[_kind(source)].append(seconds)

    def worth(self, candidate: Candidate, ruling: Ruling) -> Worth:
        """What running the candidate now is expected to bring.

        The tool's measured durations come first, then the predictor's word, then the policy's. A call that is
        written, or being written, takes a slot only until the agent asks for it: from then on it is the agent's
        own, which would run anyway. If it comes to be another, it gives the slot back by then.
        """
        kind = _kind(candidate.source)
        lead = max(_LEAST_LEAD_S, fmean(self._leads[kind]))
        told = candidate.expected_s if candidate.expected_s is not None else ruling.expected_s
        runs = self._runs.get(candidate.invocation.tool) or (_UNKNOWN_S if told is None else told,)
        expected = median(runs)
        benefit = candidate.confidence * fmean(min(run, lead) for run in runs)
        demand = min(expected, lead) if kind in _WRITTEN else expected
        return Worth(expected, benefit, benefit / max(demand, _LEAST_DEMAND_S))


def _kind(source: str) -> str:
    """What leads are told apart by: how much of the call had been written, if anything, and who guessed it."""
    return source if source in (*_WRITTEN, MODEL) else _PATTERN
