"""The model of client-side speculation: how much sooner a session ends (Speculative Tool Calling, Lemma 1).

A session is N steps of a generation (G seconds) and a tool call (T). A speculator names the call after g
seconds and is right with probability alpha; the tool then runs beside the generation:

    T_standard = N (G + T)        T_spec = N (alpha max{G, g + T} + (1 - alpha) (G + T))

A guess that comes after the call itself (g > G) finds the call under way: Algorithm 2 then runs it as if
nothing had been guessed, so such a step takes G + T and never longer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

FRESH = 0.25
"""How much a further sample adds, beside one that knows nothing of the others: samples of one model agree
mostly in their errors too. In the paper nine samples of a 1B model come near one of an 8B model, no further."""
_HARDLY = 0.05
"""Below this share of right guesses the paper's regime is that of alpha -> 0."""
_ALIKE = 2.0
"""T and G count as alike within this factor."""


class Regime(StrEnum):
    """Where on the paper's map (its table of regimes) a step lies."""

    LATE = "late"
    INACCURATE = "inaccurate"
    SHORT_TOOL = "short_tool"
    BALANCED = "balanced"
    LONG_TOOL = "long_tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a session; all in seconds."""

    generation_s: float
    """G: from the LLM request to its call."""
    guess_s: float
    """g: from the LLM request to the speculator's answer."""
    tool_s: float
    """T."""

    @property
    def standard_s(self) -> float:
        """Without speculation: G + T."""
        return self.generation_s + self.tool_s

    @property
    def hidden_s(self) -> float:
        """What a right guess takes off: min{T, G - g}, nothing if it comes too late."""
        return max(0.0, min(self.tool_s, self.generation_s - self.guess_s))

    def expected_s(self, alpha: float) -> float:
        """Where a guess is right with probability `alpha`; max{G, g + T} is G + T less what is hidden."""
        return self.standard_s - alpha * self.hidden_s

    def speedup(self, alpha: float) -> float:
        """S_spec(alpha) of Lemma 1: 1 where nothing is hidden, always below 2."""
        return speedup((self,), alpha)

    def regime(self, alpha: float) -> Regime:
        """Which of the paper's regimes this is."""
        if self.guess_s >= self.generation_s:
            return Regime.LATE
        if alpha < _HARDLY:
            return Regime.INACCURATE
        if self.tool_s * _ALIKE < self.generation_s:
            return Regime.SHORT_TOOL
        return Regime.LONG_TOOL if self.tool_s > _ALIKE * self.generation_s else Regime.BALANCED


def speedup(steps: Iterable[Step], alpha: float) -> float:
    """The speed-up of a whole session, step by step: steps of unequal length gain less than their means say."""
    standard = expected = 0.0
    for step in steps:
        standard += step.standard_s
        expected += step.expected_s(alpha)
    return standard / expected if expected else 1.0


def acceptance(alpha: float, samples: int, fresh: float = FRESH) -> float:
    """The probability that one of `samples` guesses is right.

    Args:
        alpha: that a single one is.
        fresh: 0: all samples say the same; 1: they know nothing of each other.
    """
    if not samples:
        return 0.0
    missed: float = (1.0 - alpha) ** (1.0 + (samples - 1) * fresh)
    return 1.0 - missed
