"""What an engine has to do at once, as one number (PASTE 4.3, in-engine load shaping).

`EnginePressure(B) = DecodeLoad(B) + gamma * KVLoad(B)`, both in turns: DecodeLoad is how many decode, and KVLoad how
many average turns their contexts make up. So a turn of average length counts as 1 + gamma, and a long one as more.
"""

from dataclasses import dataclass, field

from paste_proxy.turns.types import EngineLoad, TurnFacts

_REMEMBERED = 256
"""Turns that an average context is of."""


@dataclass(slots=True)
class Batch:
    """The turns that were admitted and are not over, and what else the engine says that it has.

    Args:
        gamma: weight of the contexts against the number of turns.
    """

    gamma: float = 0.0
    strangers: float = 0.0
    """Turns in the engine that nobody told of."""
    kv_used: float | None = None
    _turns: dict[int, TurnFacts] = field(default_factory=dict)
    tokens: float = 0.0
    """Of the contexts of those turns."""
    average: float = 0.0
    """Of the contexts of turns of late."""
    _seen: int = 0

    def __len__(self) -> int:
        return len(self._turns)

    @property
    def pressure(self) -> float:
        """EnginePressure, in average turns."""
        contexts = self.tokens / self.average if self.average else 0.0
        return (len(self._turns) + self.gamma * contexts) / (1 + self.gamma) + self.strangers

    def share(self, facts: TurnFacts) -> float:
        """What a turn adds to the pressure."""
        average = self.average or _tokens(facts)
        return (1 + self.gamma * _tokens(facts) / max(average, 1.0)) / (1 + self.gamma)

    def add(self, turn: int, facts: TurnFacts) -> None:
        """The engine has it."""
        self._turns[turn] = facts
        self.tokens += _tokens(facts)
        self._seen = min(self._seen + 1, _REMEMBERED)
        self.average += (_tokens(facts) - self.average) / self._seen

    def replace(self, turn: int, facts: TurnFacts) -> None:
        """More is known of it, if the engine has it."""
        before = self._turns.get(turn)
        if before is not None:
            self._turns[turn] = facts
            self.tokens += _tokens(facts) - _tokens(before)

    def remove(self, turn: int) -> bool:
        """It is over. False: the engine did not have it."""
        facts = self._turns.pop(turn, None)
        if facts is not None:
            self.tokens = self.tokens - _tokens(facts) if self._turns else 0.0
        return facts is not None

    def measured(self, load: EngineLoad) -> None:
        """Take what the engine says: it may serve others, too."""
        self.strangers = max(0.0, load.running + load.waiting - len(self._turns))
        self.kv_used = load.kv_used


def _tokens(facts: TurnFacts) -> float:
    return facts.prompt_tokens + facts.output_tokens
