"""What the measurement came to: told from the sidecar's own counters, and from what its surroundings saw."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paste_proxy.events.values import Json
from paste_proxy.speculation.types import Reason

_LATER = (Reason.BUDGET, Reason.WRITE_IN_FLIGHT)
"""A candidate that was refused so may be launched when there is room."""
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Candidates by what became of them, and every effect that there was."""

    sessions: int
    calls: int
    """That the agents made."""
    refused: Mapping[str, int]
    """Candidates by reason."""
    side_effecting: int
    """Of those that no rule lets run ahead: how many may have changed something."""
    launched: int
    staged: int
    """Of the launched: commands whose effects were to be held back."""
    in_views: int
    """Of these: how many were really run so, to their end or not."""
    rehearsed: int
    """Of the refused: those that were run in a changed form, which changes nothing."""
    staging: str
    """What this machine has for that."""
    ran_ahead: int
    """Requests that reached tools before, or without, an agent's asking."""
    effects: tuple[str, ...]
    """One line each."""

    @property
    def candidates(self) -> int:
        """All of them; see `counted`."""
        return counted(self.refused, self.launched)

    @property
    def reads(self) -> int:
        """Candidates that were run as reads."""
        return self.launched - self.staged

    def to_json(self) -> dict[str, Json]:
        """The object that `--json` prints."""
        return {
            "candidates": self.candidates,
            "sessions": self.sessions,
            "calls": self.calls,
            "refused": sum(self.refused.values()),
            "refused_by_reason": dict(self.refused),
            "side_effecting_refused": self.side_effecting,
            "run_as_reads": self.reads,
            "staged": self.staged,
            "run_in_views": self.in_views,
            "rehearsed": self.rehearsed,
            "staging": self.staging,
            "requests_ahead": self.ran_ahead,
            "effects": len(self.effects),
            "effects_shown": list(self.shown),
        }

    @property
    def shown(self) -> Iterator[str]:
        """The most frequent effects, for people."""
        for effect, times in Counter(self.effects).most_common(_SHOWN):
            yield effect if times == 1 else f"{effect} ({times} times)"


def counted(refused: Mapping[str, int], launched: int) -> int:
    """Candidates there were at least: one that waited for room was refused and may have been launched, and is one."""
    waited = sum(refused.get(reason, 0) for reason in _LATER)
    return sum(refused.values()) + max(0, launched - waited)
