"""What became of patterns that people wrote, in recorded sessions: why validation kept them or dropped them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from paste_proxy.mining.groups import Recorded, groups_of
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.replay import Replayed, replay
from paste_proxy.mining.templates import bindings


@dataclass(slots=True)
class Trial:
    """One pattern, tried at every moment, whatever its context: mining finds the contexts it holds in anew."""

    pattern: Pattern
    bound: int = 0
    """Moments at which it gave a call."""
    right: int = 0
    """Those at which one that it gave was asked for within the horizon."""
    groups: set[str] = field(default_factory=set)
    """Task groups of these."""

    def add(self, at: Replayed, group: str) -> None:
        """Bind it at a moment and note what came."""
        bound = bindings(self.pattern.template, at.window)
        self.bound += bool(bound)
        if any(invocation.key in at.ever for invocation in bound):
            self.right += 1
            self.groups.add(group)


def tried(patterns: Sequence[Pattern], sessions: Sequence[Recorded]) -> list[Trial]:
    """What became of each pattern in sessions, which are not replayed where there is none."""
    trials = [Trial(pattern) for pattern in patterns]
    for session, group in zip(sessions, groups_of(sessions), strict=True) if trials else ():
        for at in replay(session):
            for trial in trials:
                trial.add(at, group)
    return trials
