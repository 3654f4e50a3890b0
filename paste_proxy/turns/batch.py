"""What an engine has to do at once, as one number (PASTE 4.3, in-engine load shaping).

`EnginePressure(B) = DecodeLoad(B) + gamma * KVLoad(B)`, both in turns: DecodeLoad is how many decode, and KVLoad how
many average turns their contexts make up. So a turn of average length counts as 1 + gamma, and a long one as more.
"""

from dataclasses import dataclass, field

from paste_proxy.turns.types import EngineLoad, TurnFacts

_OUTLIER = 8.0
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
    _turns: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Tokens of the context of each, and as many as count."""
    tokens: float = 0.0
    """Of the contexts of those turns."""
    counted: float = 0.0
    """The same, of which none counts as more than `_OUTLIER` average ones: one that is out of all proportion is no
    reason to have all others wait for its end."""
    average: float = 0.0
    """Of the contexts of turns of late."""
    _seen: int = 0

    def __len__(self) -> int:
        return len(self._turns)

    @property
    def pressure(self) -> float:
        """EnginePressure, in average turns."""
        contexts = self.counted / self.average if self.average else 0.0
        return (len(self._turns) + self.gamma * contexts) / (1 + self.gamma) + self.strangers

    def share(self, facts: TurnFacts) -> float:
        """What a turn adds to the pressure."""
        return (1 + self.gamma * self._counts(facts) / max(self.average or _tokens(facts), 1.0)) / (1 + self.gamma)

    def add(self, turn: int, facts: TurnFacts) -> None:
        """The engine has it."""
        counted = self._take(turn, facts)
        self._seen = min(self._seen + 1, _REMEMBERED)
        self.average += (counted - self.average) / self._seen

    def replace(self, turn: int, facts: TurnFacts) -> None:
        """More is known of it, if the engine has it."""
        if self.remove(turn):
            self._take(turn, facts)

    def remove(self, turn: int) -> bool:
        """It is over. False: the engine did not have it."""
        held = self._turns.pop(turn, None)
        if held is not None:
            tokens, counted = held
            self.tokens = self.tokens - tokens if self._turns else 0.0
            self.counted = self.counted - counted if self._turns else 0.0
        return held is not None

    def _take(self, turn: int, facts: TurnFacts) -> float:
        tokens, counted = self._turns[turn] = _tokens(facts), self._counts(facts)
        self.tokens += tokens
        self.counted += counted
        return counted

    def _counts(self, facts: TurnFacts) -> float:
        tokens = _tokens(facts)
        return min(tokens, _OUTLIER * self.average) if self.average else tokens

    def measured(self, load: EngineLoad | None) -> None:
        """Take what the engine says: it may serve others, too. None: it says nothing."""
        if load is None:
            self.strangers, self.kv_used = 0.0, None
            return
        self.strangers = max(0.0, load.running + load.waiting - len(self._turns))
        self.kv_used = load.kv_used


def _tokens(facts: TurnFacts) -> float:
    return facts.prompt_tokens + facts.output_tokens
