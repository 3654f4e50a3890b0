"""Learning what traits weigh and how measures are judged, from what finders came upon in sessions of tasks that they
had not seen."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paste_proxy.mining.background import NO_BACKGROUND, Background
from paste_proxy.mining.forecast.finder import Finder
from paste_proxy.mining.forecast.judgement import NO_JUDGEMENT, Judgement
from paste_proxy.mining.forecast.measures import MEASURES
from paste_proxy.mining.forecast.model import NONE
from paste_proxy.mining.forecast.training.descent import Floats, Ints, Rows, logistic, scores, softmax_over_groups
from paste_proxy.mining.forecast.training.judging import DECAY, Judging
from paste_proxy.mining.forecast.training.names import Names
from paste_proxy.mining.forecast.traits import PATTERN
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.replay import replay

_CANDIDATES = 24
"""More than are offered: where only some tools may be run ahead, what stands further down is offered, too."""
_EPOCHS, _RATE, _DECAY = 10, 0.3, 0.03
_PRIOR = {"joint": 2.0, "chosen": 1.0}
"""Until recordings say otherwise, what the choice and the arguments say together is believed."""
_FIRM = 1_300
"""With so many moments a background is held to twice as firmly as nothing is without one; with fewer, more so. A
judgement is held to its beginning alike, with a background or without."""


class Weights(NamedTuple):
    """What traits weigh and what measures are judged to add, for the very next call and within the horizon."""

    next: dict[str, float]
    ever: dict[str, float]
    soon: Judgement = NO_JUDGEMENT
    later: Judgement = NO_JUDGEMENT


class Ranking:
    """Moments, what was found at each, and what of it came next or within the horizon."""

    def __init__(self) -> None:
        self._trait = Names[str]()
        self._next, self._ever = Rows(), Rows()
        self._measures: array[float] = array("f")
        """Of the rows of `_ever`, one after the other; none if nothing was measured."""

    def add(self, finder: Finder, session: Recorded) -> None:
        """Follow one session."""
        for at in replay(session):
            found = finder.find(at.window, _any)
            right = sum(one.invocation.key in at.next for one, _ in found)
            for one, told in found:
                features = [(self._trait(name), value) for name, value in told if not name.startswith(PATTERN)]
                self._next.row(features, (one.invocation.key in at.next) / max(1, right))
                self._ever.row(features, float(one.invocation.key in at.ever))
                self._measures.extend(one.measures)
            self._ever.close()
            self._next.row([(self._trait(NONE), 1.0)], float(not right))
            self._next.close()

    def weights(self, background: Background = NO_BACKGROUND) -> Weights:
        """What is learned from all moments, starting from a background and leaving it the more, the more there are."""
        size = len(self._trait.of)
        if not size:
            return Weights({}, {})
        firm = 1 + _FIRM / len(self._next.groups)
        decay = _DECAY * firm if background.next else _DECAY
        prior, before = self._prior(background.next or _PRIOR), self._prior(background.ever)
        soon, later = self._judging(background, DECAY * firm)
        next_ = softmax_over_groups(self._next, size, epochs=_EPOCHS, rate=_RATE, decay=decay, prior=prior, beside=soon)
        ever = logistic(self._ever, size, epochs=_EPOCHS, rate=_RATE, decay=decay, prior=before, beside=later)
        judged = (NO_JUDGEMENT if one is None else one.judgement() for one in (soon, later))
        return Weights(self._named(next_), self._named(ever), *judged)

    def outcomes(self, weights: Weights) -> Iterator[tuple[float, bool]]:
        """What other sessions' weights say of the best candidates here, and whether each came within the horizon."""
        ranks, chances = self._scores(weights)
        start = start_next = 0
        for end, end_next in zip(self._ever.groups, self._next.groups, strict=True):
            order = (-ranks[start_next : end_next - 1]).argsort()[:_CANDIDATES]
            for at in order:
                yield float(chances[start + at]), bool(self._ever.wanted[start + at])
            start, start_next = end, end_next

    def _scores(self, weights: Weights) -> tuple[Floats, Floats]:
        """Of the rows of `_next` log odds, of those of `_ever` probabilities."""
        size = len(self._trait.of)
        ranks = scores(self._next, self._numbered(weights.next, size))
        odds = scores(self._ever, self._numbered(weights.ever, size))
        if self._measures:
            table = self._table().tolist()
            ranks[self._places() >= 0] += np.array(weights.soon(table), np.float32)
            odds += np.array(weights.later(table), np.float32)
        return ranks, (1 / (1 + np.exp(-odds))).astype(np.float32)

    def _judging(self, background: Background, decay: float) -> tuple[Judging | None, Judging | None]:
        if not self._measures:
            return None, None
        table, places = self._table(), self._places()
        return (
            Judging(table, places, background.soon, decay=decay),
            Judging(table, places[places >= 0], background.later, decay=decay),
        )

    def _table(self) -> Floats:
        return np.frombuffer(self._measures, np.float32).reshape(-1, len(MEASURES))

    def _places(self) -> Ints:
        """Of each row of `_next` the one of `_ever`, -1 for `NONE`."""
        none = np.zeros(len(self._next.ends), bool)
        none[np.asarray(self._next.groups, np.int64) - 1] = True
        return np.where(none, -1, np.cumsum(~none) - 1)

    def _prior(self, weights: Mapping[str, float]) -> dict[int, float]:
        return {self._trait(name): weight for name, weight in weights.items() if name in self._trait.of}

    def _named(self, weights: Floats) -> dict[str, float]:
        return {name: round(float(weights[at]), 4) for name, at in self._trait.of.items() if abs(weights[at]) >= 1e-4}

    def _numbered(self, weights: dict[str, float], size: int) -> Sequence[float]:
        numbered = [0.0] * size
        for name, at in self._trait.of.items():
            numbered[at] = weights.get(name, 0.0)
        return numbered

    @classmethod
    def joined(cls, several: Sequence["Ranking"]) -> "Ranking":
        """All their moments."""
        joined = cls()
        for one in several:
            number = {at: joined._trait(name) for name, at in one._trait.of.items()}
            joined._next.extend(one._next, number)
            joined._ever.extend(one._ever, number)
            joined._measures += one._measures
        return joined


def _any(tool: str) -> bool:
    return True
