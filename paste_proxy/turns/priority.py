"""Which ready turn goes first (PASTE 4.3): the one that keeps most tool time hidden per unit of load.

`priority(i) = ExposedToolGain(i) / LLMPressure(i, load) + Aging(i)`.

The gain is realized, the tool time that was saved just before and is burnt by waiting here, and future, the tool time
that can be hidden behind this turn. The pressure is the time that the engine will need for the turn, under its present
load, times the turn's share of the batch. Aging is small: it decides between turns that gain alike.
"""

from dataclasses import dataclass

from paste_proxy.turns.types import TurnFacts

_OF_RETURNING_S = 0.5
"""What a turn of a session under way is taken to keep, whatever is known of it: its work so far waits for the rest."""


@dataclass(slots=True)
class Speeds:
    """How fast the engine works, as far as it was seen."""

    prompt_s: float = 0.0005
    """For a token of a prompt that is not in the cache."""
    output_s: float = 0.02
    """For a token of an answer, at the pressure of late."""


@dataclass(frozen=True, slots=True)
class Priority:
    """Ranks turns.

    Args:
        aging: gain per second of load that a second of waiting counts for.
    """

    aging: float = 0.002

    def of(self, facts: TurnFacts, share: float, speeds: Speeds, waited_s: float) -> float:
        """The rank of a turn; the greatest goes first.

        Args:
            share: what it adds to the pressure, in average turns.
        """
        returning = _OF_RETURNING_S if facts.turns_before else 0.0
        gain_s = facts.realized_s + facts.future_s + returning
        return gain_s / (service_s(facts, speeds) * share) + self.aging * waited_s


def service_s(facts: TurnFacts, speeds: Speeds) -> float:
    """Seconds that the engine will need for a turn."""
    fresh = max(0.0, facts.prompt_tokens - facts.cached_tokens)
    return max(0.001, fresh * speeds.prompt_s + facts.output_tokens * speeds.output_s)
