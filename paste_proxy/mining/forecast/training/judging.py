"""Training of a judgement beside the weights of traits, by the same descent and in the same steps."""

from collections.abc import Sequence

import numpy as np

from paste_proxy.mining.forecast.judgement import FARTHEST, NO_JUDGEMENT, Judgement
from paste_proxy.mining.forecast.training.descent import Floats, Ints

_HIDDEN = 16
_RATE, _SLOWER = 0.05, 0.5
DECAY = 1e-3
_LEAST_SPREAD = 1e-3
_DIGITS = 4


class Judging:
    """A judgement that learns from rows; its share of the first is nothing, unless it starts from another judgement.

    Args:
        measures: of all that was found, a row each.
        at: of every row that is scored, the row of its measures; -1 for the alternative that has none.
        before: what it starts from and decays to.
        decay: towards that, or to nothing.
    """

    def __init__(self, measures: Floats, at: Ints, before: Judgement = NO_JUDGEMENT, *, decay: float = DECAY) -> None:
        if before.outer:
            self._means, self._spreads = np.array(before.means, np.float32), np.array(before.spreads, np.float32)
        else:
            self._means = measures.mean(axis=0)
            self._spreads = np.maximum(measures.std(axis=0), _LEAST_SPREAD)
        even = np.clip((measures - self._means) / self._spreads, -FARTHEST, FARTHEST)
        self._even = np.concatenate([even, np.zeros((1, even.shape[1]))]).astype(np.float32)
        self._at = at
        self._decay = decay
        self._weights: list[Floats] = _begun(before, even.shape[1])
        """Inner, shifts, outer."""
        self._before = [some.copy() if before.outer else np.zeros_like(some) for some in self._weights]
        self._past = [np.full(some.shape, 1e-2, np.float32) for some in self._weights]
        self._seen: Floats = self._even[:0]
        self._hidden: Floats = self._even[:0]
        self._live: Floats = self._even[:0, 0]

    def says(self, rows: Ints) -> Floats:
        """See `descent.Beside`."""
        at = self._at[rows]
        inner, shifts, outer = self._weights
        self._seen, self._live = self._even[at], (at >= 0).astype(np.float32)
        self._hidden = np.tanh(self._seen @ inner + shifts)
        said: Floats = (self._hidden @ outer) * self._live
        return said

    def learn(self, wrong: Floats, groups: int, epoch: int) -> None:
        """See `descent.Beside`."""
        blame = (wrong * self._live)[:, None]
        below = blame * self._weights[2] * (1 - self._hidden * self._hidden)
        slopes = self._seen.T @ below, below.sum(axis=0), (self._hidden * blame).sum(axis=0)
        step = _RATE / (1 + _SLOWER * epoch)
        for weights, before, past, slope in zip(self._weights, self._before, self._past, slopes, strict=True):
            evened = slope / groups**0.5 + self._decay * (weights - before)
            past += evened * evened
            weights -= step * evened / np.sqrt(past)

    def judgement(self) -> Judgement:
        """What was learned."""
        inner, shifts, outer = self._weights
        return Judgement(
            _rounded(self._means),
            _rounded(self._spreads),
            tuple(map(_rounded, inner)),
            _rounded(shifts),
            _rounded(outer),
        )


def _begun(before: Judgement, wide: int) -> list[Floats]:
    """Inner, shifts, outer."""
    if before.outer:
        return [np.array(some, np.float32) for some in (before.inner, before.shifts, before.outer)]
    start = np.random.default_rng(1).normal(0, wide**-0.5, (wide, _HIDDEN))
    return [start.astype(np.float32), np.zeros(_HIDDEN, np.float32), np.zeros(_HIDDEN, np.float32)]


def _rounded(values: Floats) -> Sequence[float]:
    return tuple(round(float(value), _DIGITS) for value in values)
