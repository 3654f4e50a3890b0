"""What became of staged commands, in sums: what is shown of stages says this and no more."""

from collections import Counter, deque
from dataclasses import dataclass, field
from enum import StrEnum

_TIMED = 512


class Cause(StrEnum):
    """Why a staged command was not committed. The words that name paths are for the log alone."""

    MACHINE = "machine"
    """There is no view of it here, or not the room for one."""
    BUSY = "busy"
    """There are enough stages, or a tool is writing."""
    NETWORK = "network"
    PROCESSES = "processes"
    """It left some behind."""
    LIMIT = "limit"
    """It took too long, or came to another limit."""
    ESCAPED = "escaped"
    """It came upon something else that a view does not show as it is."""
    EFFECTS = "effects"
    """It did something that is not committed, such as a change outside of the workspace."""
    CHANGED = "changed"
    """Something that it stands on was changed by somebody else."""
    VOID = "void"
    """Another tool of the agent's wrote to the workspace."""
    UNASKED = "unasked"
    """Nobody asked for it, or not in time."""
    FAULT = "fault"
    """Something of ours went wrong."""


_POISONS = {
    "the network": Cause.NETWORK,
    "'s network": Cause.NETWORK,
    "processes behind": Cause.PROCESSES,
    "limit": Cause.LIMIT,
    "it used more than": Cause.LIMIT,
    "it wrote more than": Cause.LIMIT,
    "it was not done within": Cause.LIMIT,
}


def cause_of(poison: str) -> Cause:
    """The cause that a poison's words speak of; what follows in brackets is the command's own."""
    said = poison.partition(" (")[0]
    return next((cause for words, cause in _POISONS.items() if words in said), Cause.ESCAPED)


class Step(StrEnum):
    """What staging costs time for, beside the command itself."""

    SET_UP = "set_up"
    """A view is made and taken down again, and what the command did is read."""
    PROOF = "proof"
    COMMIT = "commit"


@dataclass(slots=True)
class StageTally:
    """Sums since the start."""

    staged: int = 0
    """Commands that were run in a view, to their end or not."""
    committed: int = 0
    unfinished: int = 0
    """Commits that could be carried out in part only."""
    refused: Counter[Cause] = field(default_factory=Counter)
    took_s: dict[Step, deque[float]] = field(
        default_factory=lambda: {step: deque[float](maxlen=_TIMED) for step in Step}
    )
    """The latest times of each step, in seconds."""

    def took_ms(self) -> dict[str, dict[str, float]]:
        """Median and 95th percentile of each step's latest times, in milliseconds; nothing of a step never taken."""
        return {
            step.value: {"p50": _share(times, 0.5), "p95": _share(times, 0.95)}
            for step, times in self.took_s.items()
            if times
        }


def _share(times: deque[float], share: float) -> float:
    ordered = sorted(times)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000, 2)
