"""How likely a call is that so many of so many samples agree on, learned from what came of the earlier ones."""

from paste_proxy.speculation.guessing.counts import Counts

_PRIOR_WEIGHT = 4.0
"""Turns that the first belief counts for."""


class Agreement:
    """A Beta posterior for each level of agreement: k of n samples name the call.

    The first belief is k / (n + 1): one sample is right as often as not, and unanimity counts for more the more
    samples there are.
    """

    def __init__(self) -> None:
        self._levels: dict[tuple[int, int], Counts] = {}

    def confidence(self, agreeing: int, samples: int) -> float:
        """Mean of the posterior, 0 to 1."""
        counts = self._levels.get((agreeing, samples), Counts())
        return counts.posterior(agreeing / (samples + 1), _PRIOR_WEIGHT)

    def learn(self, agreeing: int, samples: int, *, right: bool) -> None:
        """A call at this level was asked for by the agent's LLM, or was not."""
        self._levels.setdefault((agreeing, samples), Counts()).add(right=right)
