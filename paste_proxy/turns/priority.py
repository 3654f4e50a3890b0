"""Which ready turn goes first (PASTE 4.3): the one that keeps most tool time hidden per unit of load.

`priority(i) = ExposedToolGain(i) / LLMPressure(i, load) + Aging(i)`.

The gain is realized, the tool time that was saved just before and is burnt by waiting here, and future, the tool time
that can be hidden behind this turn. The pressure is the time that the engine will need for the turn, under its present
load, times the turn's share of the batch. Aging is the time that it has waited, so that what a turn gains is a head
start in seconds: among turns that gain alike the first one goes first.
"""

from dataclasses import dataclass
from typing import Protocol

from paste_proxy.turns.speeds import Speeds
from paste_proxy.turns.types import TurnFacts


class Order(Protocol):
    """Who goes first."""

    def head_start_s(self, facts: TurnFacts, share: float, speeds: Speeds) -> float:
        """Seconds by which a turn is put before others that are ready when it is.

        Args:
            share: what it adds to the pressure, in average turns.
        """


@dataclass(frozen=True, slots=True)
class FirstCome:
    """First come, first served."""

    def head_start_s(self, facts: TurnFacts, share: float, speeds: Speeds) -> float:
        """See `Order`."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Priority:
    """By gain and pressure.

    Args:
        worth_s: head start for a second of tool time gained per second of load.
        most_s: no head start is longer.
    """

    worth_s: float = 1.0
    most_s: float = 30.0

    def head_start_s(self, facts: TurnFacts, share: float, speeds: Speeds) -> float:
        """See `Order`."""
        gain_s = facts.realized_s + facts.future_s
        return min(self.worth_s * gain_s / (service_s(facts, speeds) * share), self.most_s)


def service_s(facts: TurnFacts, speeds: Speeds) -> float:
    """Seconds that the engine will need for a turn."""
    fresh = max(0.0, facts.prompt_tokens - facts.cached_tokens)
    return max(0.001, fresh * speeds.prompt_s + facts.output_tokens * speeds.token_s)
