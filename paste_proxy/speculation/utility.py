"""What a speculative job is worth (PASTE 4.2): expected utility per unit of resource.

Utility is confidence times the tool time likely to be hidden, per slot-second the job is expected to
take. Hidden time is the shorter of the tool's duration and the lead, the time from the prediction to the
agent's own call. Both are learned from recent runs, with a stated guess before the first. A run ahead at the lowest
priority takes as long as the machine lets it: it tells how long its tool takes only until another kind of run has.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
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
_CALLS = 4_096


@dataclass(frozen=True, slots=True)
class Worth:
    """What one candidate is expected to bring, in seconds, and per slot-second."""

    expected_s: float
    """How long the tool is expected to run."""
    benefit_s: float
    utility: float


class Experience:
    """Recent durations by tool, the latest of each call, and recent leads by kind of predictor; all of it bounded."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, deque[float]] = OrderedDict()
        self._aside: OrderedDict[str, deque[float]] = OrderedDict()
        """Of tools that have only been run ahead at the lowest priority."""
        self._calls: OrderedDict[str, float] = OrderedDict()
        """Of the agent's own, by the key of their plain form."""
        self._leads = {
            SEALED: deque([_SEALED_LEAD_S], _LEADS),
            NARROWED: deque([_NARROWED_LEAD_S], _LEADS),
            MODEL: deque([_MODEL_LEAD_S], _LEADS),
            _PATTERN: deque([_LEAD_S], _LEADS),
        }

    def ran(self, tool: str, seconds: float) -> None:
        """A run of the tool took so long."""
        _add(self._runs, tool, seconds)
        self._aside.pop(tool, None)

    def ran_aside(self, tool: str, seconds: float) -> None:
        """A run at the lowest priority took so long."""
        if tool not in self._runs:
            _add(self._aside, tool, seconds)

    def answered(self, key: str, seconds: float) -> None:
        """The agent's own call took so long, when it was run.

        Args:
            key: of its plain form.
        """
        self._calls[key] = seconds
        self._calls.move_to_end(key)
        if len(self._calls) > _CALLS:
            self._calls.popitem(last=False)

    def usual_s(self, tool: str, key: str, took_s: float, cpu_s: float | None) -> float:
        """How long a call that was run ahead at the lowest priority may be said to take otherwise, in seconds.

        As long as the same call took the agent. If that is not known, as long as its tool usually takes, or as it has
        kept a core busy if that is longer: calls of one tool differ. It is never more than it took.

        Args:
            key: of the call's plain form.
            took_s: from its start to its end.
            cpu_s: of its processes; None: not known.
        """
        same = self._calls.get(key)
        if same is not None:
            return min(took_s, same)
        runs = self._runs.get(tool)
        known = ([median(runs)] if runs else []) + ([] if cpu_s is None else [cpu_s])
        return min(took_s, max(known, default=took_s))

    def led(self, source: str, seconds: float) -> None:
        """A job of this source started so long before the agent asked for the same."""
        self._leads[_kind(source)].append(seconds)

    def worth(self, candidate: Candidate, ruling: Ruling) -> Worth:
        """What running the candidate now is expected to bring.

        The tool's measured durations come first, then the predictor's word, then the policy's; before all of them, for
        a call whose effects are held back, what the same took the agent: it is a command, and those of one tool have
        little in common. A call that is written, or being written, takes a slot only until the agent asks for it: from
        then on it is the agent's own, which would run anyway. If it comes to be another, it gives the slot back by
        then.
        """
        kind = _kind(candidate.source)
        lead = max(_LEAST_LEAD_S, fmean(self._leads[kind]))
        told = candidate.expected_s if candidate.expected_s is not None else ruling.expected_s
        runs = self._known(candidate, ruling) or (_UNKNOWN_S if told is None else told,)
        expected = median(runs)
        benefit = candidate.confidence * fmean(min(run, lead) for run in runs)
        demand = min(expected, lead) if kind in _WRITTEN else expected
        return Worth(expected, benefit, benefit / max(demand, _LEAST_DEMAND_S))

    def _known(self, candidate: Candidate, ruling: Ruling) -> Sequence[float] | None:
        tool = candidate.invocation.tool
        same = self._calls.get(ruling.same.plain(candidate.invocation).key) if ruling.staged else None
        return (self._runs.get(tool) or self._aside.get(tool)) if same is None else (same,)


def _add(durations: OrderedDict[str, deque[float]], tool: str, seconds: float) -> None:
    durations.setdefault(tool, deque(maxlen=_RUNS)).append(seconds)
    durations.move_to_end(tool)
    if len(durations) > _TOOLS:
        durations.popitem(last=False)


def _kind(source: str) -> str:
    """What leads are told apart by: how much of the call had been written, if anything, and who guessed it."""
    return source if source in (*_WRITTEN, MODEL) else _PATTERN
