"""How many waiting turns an engine takes at a step, so that its pressure stays in a band (PASTE 4.3).

`EnginePressure(B) = DecodeLoad(B) + gamma * KVLoad(B)`, each as a share of what the engine can hold.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """`P_low` and `P_high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What an engine can hold."""

    turns: int
    tokens: int
    """Of its KV cache."""
    gamma: float

    def share(self, context_tokens: float, turns: int = 1) -> float:
        """The pressure of turns with so many tokens of context between them."""
        return turns / max(self.turns, 1) + self.gamma * context_tokens / max(self.tokens, 1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A turn that waits in an engine."""

    since: float
    share: float
    """What it adds to the pressure."""


def admitted(
    turns: Iterable[Waiting], pressure: float, band: Range, *, busy: bool, now: float, longest_s: float
) -> int:
    """How many of the first of `turns`, which are in order, may go now.

    Below `P_low` a turn goes whatever it adds. Within the band the engine is refilled as turns end, strictly in order:
    one that does not fit keeps its place. One that has waited for `longest_s` goes in any case, and where nothing is
    under way (not `busy`) one always does.
    """
    count = 0
    for turn in turns:
        late = now - turn.since >= longest_s
        idle = not (busy or count)
        if not (late or idle or pressure < band.low or pressure + turn.share <= band.high):
            break
        pressure += turn.share
        count += 1
    return count
