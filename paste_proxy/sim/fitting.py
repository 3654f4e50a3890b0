"""The parameters of an engine that was measured.

Each weight of the step's time is the one that fits best, in shares of what was measured, with none below zero. Few
weights have few subsets, so that the best fit of each subset is looked at, and the best of those without a negative
weight is the answer of non-negative least squares.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from paste_proxy.sim.engine_model import USUAL_BATCH, EngineModel

_LEAST_S = 1e-6
_MORE = 1e-3
"""A weight more has to explain so much of what is left, or it is noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """A stretch in which a batch wrote, and no prompt was worked off."""

    streams: int
    context: float
    """Tokens of all their contexts, on average over the stretch."""
    token_s: float
    """From one token of a stream to its next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefilling:
    """A prompt alone."""

    tokens: float
    first_s: float
    """To the first token of its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """An engine, and how well it fits what was measured, as shares of that."""

    model: EngineModel
    worst: float
    """Of the times of tokens, the one that is farthest off."""
    typical: float
    """Root of the mean square of how far they are off."""
    explained: float
    """Of how far the times of tokens are from their mean, the share that the engine explains (R squared)."""


def fit(
    decoded: Sequence[Decoding], prefilled: Sequence[Prefilling], *, name: str, max_batch: int | None = None
) -> Fitted:
    """The engine that comes nearest.

    Args:
        decoded: at least one.
        max_batch: streams that it has at once, if that has shown.
    """
    measured = np.array([one.token_s for one in decoded])
    amounts = np.array([[1.0, one.streams, one.streams**2, one.context] for one in decoded])
    weights = least_squares(amounts / measured[:, None], np.ones(len(decoded)))
    step_s, turn_s, crowd_s, context_s = map(float, weights)
    first = np.array([[1.0, one.tokens] for one in prefilled])
    prompt_s = float(least_squares(first, np.array([one.first_s for one in prefilled]))[1]) if len(first) else 0.0
    model = EngineModel(
        name=name,
        step_s=max(step_s, _LEAST_S),
        turn_s=turn_s,
        crowd_s=crowd_s,
        context_s=context_s,
        prompt_s=prompt_s,
        max_batch=max_batch or USUAL_BATCH,
    )
    fitted = np.array([model.step_seconds(one.streams, one.context) for one in decoded])
    off = np.abs(fitted / measured - 1)
    spread = float(((measured - measured.mean()) ** 2).sum())
    return Fitted(
        model=model,
        worst=float(off.max()),
        typical=float(np.sqrt((off**2).mean())),
        explained=1 - float(((measured - fitted) ** 2).sum()) / spread if spread else 1.0,
    )


def least_squares(amounts: "np.ndarray[tuple[int, int], np.dtype[np.float64]]", wanted: "_Vector") -> "_Vector":
    """Weights, none below zero, with which the amounts come nearest to what is wanted; (n, k) and (n,) give (k,).

    Of two sets of weights that come about equally near, the smaller one is taken.
    """
    scales = np.abs(amounts).max(axis=0)
    scales[scales == 0.0] = 1.0
    best, left = np.zeros(amounts.shape[1]), float((wanted**2).sum())
    for size in range(1, amounts.shape[1] + 1):
        found, found_left = best, left
        for chosen in map(list, combinations(range(amounts.shape[1]), size)):
            solved = np.linalg.lstsq(amounts[:, chosen] / scales[chosen], wanted, rcond=None)[0] / scales[chosen]
            rest = float(((amounts[:, chosen] @ solved - wanted) ** 2).sum())
            if (solved >= 0.0).all() and rest < found_left:
                found, found_left = np.zeros(amounts.shape[1]), rest
                found[chosen] = solved
        if found_left < left * (1 - _MORE):
            best, left = found, found_left
    return best


_Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
