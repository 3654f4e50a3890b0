"""Training of linear models by AdaGrad on small batches (Duchi et al. 2011), with numpy."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int64]
Link: TypeAlias = Callable[[Floats, Ints, Ints], Floats]
"""From the scores of rows, and where their groups start and how large they are, to probabilities."""


_NO_PRIOR: Mapping[int, float] = {}


class Beside(Protocol):
    """What is trained together with the weights: its own share of the scores of rows."""

    def says(self, rows: Ints) -> Floats:
        """Its share of the scores of some rows."""

    def learn(self, wrong: Floats, groups: int, epoch: int) -> None:
        """By how much too much these rows, the ones asked for last, were given; they are of so many groups."""


@dataclass
class Rows:
    """Sparse rows, one an alternative, in groups; filled once, then read."""

    ids: "array[int]" = field(default_factory=lambda: array("l"))
    values: "array[float]" = field(default_factory=lambda: array("f"))
    ends: list[int] = field(default_factory=list)
    """Where each row ends."""
    groups: list[int] = field(default_factory=list)
    """Where each group ends, in rows."""
    wanted: list[float] = field(default_factory=list)
    """By row: 1 for an alternative that came true."""

    def row(self, features: Sequence[tuple[int, float]], wanted: float) -> None:
        """Add an alternative."""
        for at, value in features:
            self.ids.append(at)
            self.values.append(value)
        self.ends.append(len(self.ids))
        self.wanted.append(wanted)

    def extend(self, other: "Rows", number: dict[int, int]) -> None:
        """Add the groups of others, whose features have other numbers."""
        before, rows = len(self.ids), len(self.ends)
        self.ids.extend(number[at] for at in other.ids)
        self.values += other.values
        self.ends += [end + before for end in other.ends]
        self.groups += [end + rows for end in other.groups]
        self.wanted += other.wanted

    def close(self) -> None:
        """End a group of alternatives."""
        self.groups.append(len(self.ends))


def softmax_over_groups(
    rows: Rows,
    features: int,
    *,
    epochs: int,
    rate: float,
    decay: float,
    prior: Mapping[int, float] = _NO_PRIOR,
    batch: int = 8,
    beside: Beside | None = None,
) -> Floats:
    """Weights under which the wanted row of each group is the likeliest (conditional logit).

    Args:
        prior: where the weights of some features start and decay to; those of all others decay to 0.
        beside: is trained with them.
    """
    return _descend(rows, _started(features, prior), _softmax, epochs, rate, decay, batch, beside)


def logistic(
    rows: Rows,
    features: int,
    *,
    epochs: int,
    rate: float,
    decay: float,
    prior: Mapping[int, float] = _NO_PRIOR,
    batch: int = 8,
    beside: Beside | None = None,
) -> Floats:
    """Weights under which each row's sigmoid is its probability to be wanted; `prior` and `beside` as above."""
    return _descend(rows, _started(features, prior), _sigmoid, epochs, rate, decay, batch, beside)


def scores(rows: Rows, weights: Sequence[float]) -> Floats:
    """The sum of each row's features by their weights."""
    lengths = np.diff(np.concatenate([[0], np.asarray(rows.ends, np.int64)]))
    owner = np.repeat(np.arange(len(rows.ends)), lengths)
    parts = np.asarray(weights)[np.asarray(rows.ids, np.int64)] * np.asarray(rows.values)
    return np.bincount(owner, parts, minlength=len(rows.ends)).astype(np.float32)


def _started(features: int, prior: Mapping[int, float]) -> Floats:
    start = np.zeros(features, np.float32)
    for at, weight in prior.items():
        start[at] = weight
    return start


def _softmax(scores: Floats, starts: Ints, sizes: Ints) -> Floats:
    highest = np.repeat(np.maximum.reduceat(scores, starts), sizes)
    masses: Floats = np.exp(scores - highest)
    probabilities: Floats = masses / np.repeat(np.add.reduceat(masses, starts), sizes)
    return probabilities


def _sigmoid(scores: Floats, starts: Ints, sizes: Ints) -> Floats:
    probabilities: Floats = (1 / (1 + np.exp(-np.clip(scores, -30, 30)))).astype(np.float32)
    return probabilities


def _descend(
    rows: Rows,
    prior: Floats,
    link: Link,
    epochs: int,
    rate: float,
    decay: float,
    batch: int,
    beside: Beside | None = None,
) -> Floats:
    ids, values = np.asarray(rows.ids, np.int64), np.asarray(rows.values, np.float32)
    ends = np.concatenate([[0], np.asarray(rows.ends, np.int64)])
    groups = np.concatenate([[0], np.asarray(rows.groups, np.int64)])
    wanted = np.asarray(rows.wanted, np.float32)
    weights, past = prior.copy(), np.full(len(prior), 1e-2, np.float32)
    shuffle = np.random.default_rng(1)
    for epoch in range(epochs):
        order = shuffle.permutation(len(groups) - 1)
        step = rate / (1 + epoch)
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            row = _spans(groups[some], groups[some + 1])
            if not len(row):
                continue
            sizes = groups[some + 1] - groups[some]
            entry = _spans(ends[row], ends[row + 1])
            lengths = ends[row + 1] - ends[row]
            owner = np.repeat(np.arange(len(row)), lengths)
            at, value = ids[entry], values[entry]
            scores = np.bincount(owner, weights[at] * value, minlength=len(row)).astype(np.float32)
            if beside is not None:
                scores += beside.says(row)
            kept = sizes[sizes > 0]
            firsts = np.concatenate([[0], np.cumsum(kept)[:-1]])
            wrong = link(scores, firsts, kept) - wanted[row]
            if beside is not None:
                beside.learn(wrong, len(some), epoch)
            unique, where = np.unique(at, return_inverse=True)
            slope = np.bincount(where, wrong[owner] * value).astype(np.float32) / len(some) ** 0.5
            slope += decay * (weights[unique] - prior[unique])
            past[unique] += slope * slope
            weights[unique] -= step * slope / np.sqrt(past[unique])
    return weights


def _spans(starts: Ints, ends: Ints) -> Ints:
    """All indices of the spans, one span after the other."""
    sizes = ends - starts
    total = int(sizes.sum())
    shifts = np.repeat(starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    indices: Ints = np.arange(total, dtype=np.int64) + shifts
    return indices


def softmax_over_labels(
    cues: Sequence[Sequence[int]],
    labels: Sequence[Sequence[int]],
    sizes: tuple[int, int],
    *,
    epochs: int,
    rate: float,
    decay: float,
    evens: Sequence[float],
    batch: int = 8,
) -> tuple[Floats, Floats]:
    """Bias and weights (cues x labels) of a softmax; an example's mass is shared by its labels.

    Args:
        evens: what each cue of an example counts.
    """
    weights = np.zeros(sizes, np.float32)
    past = np.full(sizes, 1e-2, np.float32)
    bias, past_bias = np.zeros(sizes[1], np.float32), np.full(sizes[1], 1e-2, np.float32)
    lengths = np.asarray([len(one) for one in cues], np.int64)
    ends = np.cumsum(lengths)
    flat = np.fromiter((cue for one in cues for cue in one), np.int64, int(ends[-1]) if len(ends) else 0)
    even = np.asarray(evens, np.float32)
    wanted = np.fromiter((label for one in labels for label in one), np.int64)
    several = np.asarray([len(one) for one in labels], np.int64)
    masses = np.repeat(1 / several, several).astype(np.float32)
    label_ends = np.cumsum(several)
    shuffle = np.random.default_rng(2)
    for epoch in range(epochs):
        order = shuffle.permutation(len(lengths))
        step = rate / (1 + 0.3 * epoch)
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            entry = _spans(ends[some] - lengths[some], ends[some])
            at = flat[entry]
            owner = np.repeat(np.arange(len(some)), lengths[some])
            firsts = np.concatenate([[0], np.cumsum(lengths[some])[:-1]])
            scores = np.tile(bias, (len(some), 1))
            told = lengths[some] > 0
            if told.any():
                scores[told] += np.add.reduceat(weights[at], firsts[told], axis=0) * even[some[told], None]
            scores -= scores.max(axis=1, keepdims=True)
            wrong = np.exp(scores)
            wrong /= wrong.sum(axis=1, keepdims=True)
            counts = several[some]
            into = _spans(label_ends[some] - counts, label_ends[some])
            np.subtract.at(wrong, (np.repeat(np.arange(len(some)), counts), wanted[into]), masses[into])
            unique, where = np.unique(at, return_inverse=True)
            slope = np.zeros((len(unique), sizes[1]), np.float32)
            np.add.at(slope, where, (wrong * even[some, None])[owner])
            slope /= len(some) ** 0.5
            slope += decay * weights[unique]
            past[unique] += slope * slope
            weights[unique] -= step * slope / np.sqrt(past[unique])
            slope_bias = wrong.sum(axis=0) / len(some) ** 0.5
            past_bias += slope_bias * slope_bias
            bias -= step * slope_bias / np.sqrt(past_bias)
    return bias, weights
