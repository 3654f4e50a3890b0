"""What the sidecar counts of the model speculator."""

from collections import Counter
from dataclasses import dataclass, field

from paste_proxy.speculation.guessing.types import SampleEnd


@dataclass(slots=True)
class GuessTally:
    """Plain sums since the start."""

    asked: int = 0
    """Turns that it was asked about."""
    passed: int = 0
    """Turns that it could have been asked about and was not: not worth it, or beyond a limit."""
    samples: Counter[str] = field(default_factory=Counter)
    """By how they ended."""
    input_tokens: int = 0
    output_tokens: int = 0
    """As the endpoint says; of samples that were stopped it says nothing."""
    right: int = 0
    """Calls guessed that the agent's LLM asked for in the same turn."""
    wrong: int = 0
    hits: int = 0
    """Calls of the agent's answered from a guess."""
    saved_s: float = 0.0

    def turn(self, samples: int) -> None:
        """A turn came of which so many samples were asked for."""
        self.asked += samples > 0
        self.passed += samples == 0

    def sampled(self, end: SampleEnd, input_tokens: int | None, output_tokens: int | None) -> None:
        """A sample ended."""
        self.samples[end.value] += 1
        self.input_tokens += input_tokens or 0
        self.output_tokens += output_tokens or 0

    def judged(self, *, right: int, wrong: int) -> None:
        """A turn is over."""
        self.right += right
        self.wrong += wrong
