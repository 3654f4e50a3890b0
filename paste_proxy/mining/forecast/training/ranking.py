"""Learning what traits weigh, from what finders came upon in sessions of tasks that they had not seen."""

from collections.abc import Iterator, Sequence

from paste_proxy.mining.forecast.finder import Finder
from paste_proxy.mining.forecast.model import NONE
from paste_proxy.mining.forecast.training.descent import Floats, Rows, logistic, scores, softmax_over_groups
from paste_proxy.mining.forecast.training.names import Names
from paste_proxy.mining.forecast.traits import PATTERN
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.replay import replay

_CANDIDATES = 8
_EPOCHS, _RATE, _DECAY = 10, 0.3, 0.03
_PRIOR = {"joint": 2.0, "chosen": 1.0}
"""Until recordings say otherwise, what the choice and the arguments say together is believed."""


class Ranking:
    """Moments, what was found at each, and what of it came next or within the horizon."""

    def __init__(self) -> None:
        self._trait = Names[str]()
        self._next, self._ever = Rows(), Rows()

    def add(self, finder: Finder, session: Recorded) -> None:
        """Follow one session."""
        for at in replay(session):
            found = finder.find(at.window, _any)
            right = sum(one.invocation.key in at.next for one, _ in found)
            for one, told in found:
                features = [(self._trait(name), value) for name, value in told if not name.startswith(PATTERN)]
                self._next.row(features, (one.invocation.key in at.next) / max(1, right))
                self._ever.row(features, float(one.invocation.key in at.ever))
            self._ever.close()
            self._next.row([(self._trait(NONE), 1.0)], float(not right))
            self._next.close()

    def weights(self) -> tuple[dict[str, float], dict[str, float]]:
        """The weights for the very next call, and for the calls within the horizon, by trait."""
        size = len(self._trait.of)
        if not size:
            return {}, {}
        return (
            self._named(
                softmax_over_groups(self._next, size, epochs=_EPOCHS, rate=_RATE, decay=_DECAY, prior=self._prior())
            ),
            self._named(logistic(self._ever, size, epochs=_EPOCHS, rate=_RATE, decay=_DECAY)),
        )

    def outcomes(self, next_: dict[str, float], ever: dict[str, float]) -> Iterator[tuple[float, bool]]:
        """What other sessions' weights say of the best candidates here, and whether each came within the horizon."""
        size = len(self._trait.of)
        ranks = scores(self._next, self._numbered(next_, size))
        chances = 1 / (1 + 2.718281828459045 ** -scores(self._ever, self._numbered(ever, size)))
        start = start_next = 0
        for end, end_next in zip(self._ever.groups, self._next.groups, strict=True):
            order = (-ranks[start_next : end_next - 1]).argsort()[:_CANDIDATES]
            for at in order:
                yield float(chances[start + at]), bool(self._ever.wanted[start + at])
            start, start_next = end, end_next

    def _prior(self) -> dict[int, float]:
        return {self._trait(name): weight for name, weight in _PRIOR.items() if name in self._trait.of}

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
        return joined


def _any(tool: str) -> bool:
    return True
