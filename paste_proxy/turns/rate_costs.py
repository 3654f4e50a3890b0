"""What a turn takes of each limit of its key.

Services count tokens their own way, some of them all that an answer might have come to, and others may use the key.
To hold turns to be dearer than they are costs next to nothing, for every answer tells anew what is left; that they were
held to be too cheap shows in refusals. So each refusal makes them dearer, and each that is served a little cheaper.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from paste_proxy.turns.types import TurnFacts

_DEARER, _MOST = 1.5, 8.0
_CHEAPER = 0.995


@dataclass(slots=True)
class Costs:
    """Learned from refusals."""

    _factor: float = 1.0
    _since: float = -inf

    def of(self, facts: TurnFacts) -> Sequence[float]:
        """Requests, tokens, tokens of the prompt and of the answer."""
        prompt = max(0.0, facts.prompt_tokens - facts.cached_tokens)
        return [self._factor * amount for amount in (1.0, prompt + facts.output_tokens, prompt, facts.output_tokens)]

    def refused(self, sent: float, now: float) -> None:
        """A turn was, that was sent then; several that were sent before the first was heard of are one."""
        if sent > self._since:
            self._factor, self._since = min(_DEARER * self._factor, _MOST), now

    def served(self) -> None:
        """A turn was."""
        self._factor = max(1.0, _CHEAPER * self._factor)
