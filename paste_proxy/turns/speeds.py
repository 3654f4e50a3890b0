"""How long an engine's steps take, learned from what it gives.

A step gives each turn that is being written one token, so that a token of a turn takes as long as a step does:

    seconds = rest + turn * B + crowd * B**2 + context * K + prompt * P

for B turns that are written, K tokens of their contexts, and P tokens of prompts worked off in the step. The weights
are those that fit the windows of late best, the later the more, none of them below zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from paste_proxy.turns.window import Window

_KEPT = 0.985
"""Of what was seen, at each window."""
_PRIOR = 0.02
"""Windows' worth of what is believed before any was seen; little, or it would be in the way."""
_ROUNDS = 40
_LEAST_S = 1e-6
_MOST_GAMMA = 4.0
_REST, _TURN, _CROWD, _CONTEXT, _PROMPT = range(5)
_SCALES = (1.0, 1 / 32, 1 / 32**2, 1 / 200_000, 1 / 200)
"""Of what a usual engine has in a step, so that the weights of all five are of about one size."""
_BELIEVED = (0.005, 0.003, 0.0, 0.002, 0.005)


@dataclass(slots=True)
class Speeds:
    """Seconds of an engine's work."""

    token_s: float = 0.02
    """From one token of a turn to its next, of late."""
    _weights: list[float] = field(default_factory=lambda: list(_BELIEVED))
    _products: list[list[float]] = field(default_factory=lambda: [[0.0] * 5 for _ in range(5)])
    _with_s: list[float] = field(default_factory=lambda: [0.0] * 5)

    @property
    def prompt_s(self) -> float:
        """For a token of a prompt that is not cached."""
        return self._weights[_PROMPT] * _SCALES[_PROMPT]

    @property
    def context_s(self) -> float:
        """For a token of the contexts of those that are written, in each step."""
        return self._weights[_CONTEXT] * _SCALES[_CONTEXT]

    def gamma(self, average: float, writing: float) -> float:
        """What a context of average length weighs against the turn that it is of: the seconds of a step that each adds.

        Args:
            average: tokens of such a context.
            writing: turns that are written.
        """
        turn_s = self._weights[_TURN] * _SCALES[_TURN] + 2 * writing * self._weights[_CROWD] * _SCALES[_CROWD]
        return min(self.context_s * average / max(turn_s, _LEAST_S), _MOST_GAMMA)

    def learn(self, window: Window) -> None:
        """Look at a window."""
        if not window.token_s:
            return
        self.token_s += (window.token_s - self.token_s) / 4
        seen = _features(window)
        for one in range(5):
            for other in range(5):
                self._products[one][other] = self._products[one][other] * _KEPT + seen[one] * seen[other]
            self._with_s[one] = self._with_s[one] * _KEPT + seen[one] * window.token_s
        self._fit()

    def alone_s(self, window: Window) -> float:
        """From one token of a turn to its next, had no prompts been worked off beside."""
        return max(window.token_s - self.prompt_s * window.prompts_beside, window.token_s / 4)

    def _fit(self) -> None:
        """Coordinate descent: each weight in turn is set to what fits best beside the others."""
        for _ in range(_ROUNDS):
            for one in range(5):
                others = sum(self._products[one][other] * self._weights[other] for other in range(5) if other != one)
                best = self._with_s[one] - others + _PRIOR * _BELIEVED[one]
                self._weights[one] = max(0.0, best / (self._products[one][one] + _PRIOR))


def _features(window: Window) -> Sequence[float]:
    amounts = (1.0, window.writing, window.writing**2, window.context, window.prompts_beside)
    return [amount * scale for amount, scale in zip(amounts, _SCALES, strict=True)]
