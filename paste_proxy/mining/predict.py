"""Online prediction: late binding of the pool's patterns to one live session (PASTE 4.1)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event
from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.prediction import Prediction
from paste_proxy.mining.templates import MOST_BINDINGS, AnyTemplate, Repeat
from paste_proxy.mining.window import Window

LEAST_CONFIDENCE = 0.01
"""Below this a candidate is not worth mentioning."""
_LATER_WEIGHT = 0.1
"""What a call that comes later is worth beside the very next one, in the order of candidates."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A bound invocation and what its best pattern says of it."""

    invocation: Invocation
    next: float
    ever: float
    pattern: Pattern


class Predictor:
    """Follows one session. Bounded: it holds the last `window` observations and nothing else of it.

    Only tools that `executable` names are predicted, so that others take no candidate's place.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        window: int = 64,
        candidates: int = 8,
        executable: Callable[[str], bool] = lambda tool: True,
    ) -> None:
        self._pool = pool
        self._window = Window(window)
        self._candidates = candidates
        self._executable = executable

    def follow(self, event: Event) -> None:
        """Take an event of the past, after which nothing is to be predicted."""
        self._window.step(event)

    def step(self, event: Event) -> Prediction:
        """Take the session's next event; candidates are distinct, the likeliest next call first."""
        if not self._window.step(event):
            return Prediction()
        best = ranked(self._pool, self._window, self._executable)[: self._candidates]
        candidates = map(self._candidate, best)
        return Prediction(tuple(one for one in candidates if one.confidence >= LEAST_CONFIDENCE))

    def _candidate(self, one: Scored) -> Candidate:
        facts = self._pool.tools.get(one.invocation.tool)
        return Candidate(
            invocation=one.invocation,
            confidence=self._pool.calibration(one.pattern.calibration(one.ever)),
            source=one.pattern.id,
            expected_s=facts.median_s if facts else None,
        )


def ranked(pool: Pool, window: Window, executable: Callable[[str], bool] = lambda tool: True) -> list[Scored]:
    """Everything the pool predicts now: distinct invocations, the likeliest next call first."""
    best: dict[str, Scored] = {}
    for expected in pool.outlook.expected(suffixes(window.context())):
        pattern = expected.pattern
        if not executable(pattern.template.tool):
            continue
        bound = bindings(pattern.template, window, len(expected.odds))
        for invocation, (next_, ever) in zip(bound, expected.odds, strict=False):
            known = best.get(invocation.key)
            if known is None or next_ > known.next:
                best[invocation.key] = Scored(invocation, next_, ever, pattern)
    return sorted(best.values(), key=lambda one: (-one.next - _LATER_WEIGHT * one.ever, one.invocation.key))


def bindings(template: AnyTemplate, window: Window, most: int = MOST_BINDINGS) -> list[Invocation]:
    """What a template gives now, up to `most`. A repeat is the business of `Repeat` alone, which has its own
    statistics."""
    if isinstance(template, Repeat):
        return list(islice(template.bind(window), most))
    asked = window.asked()
    return list(islice((invocation for invocation in template.bind(window) if invocation.key not in asked), most))
