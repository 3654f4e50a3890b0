"""Several predictors of one session, heard as one."""

from collections.abc import Sequence

from paste_proxy.events.candidate import Candidate, PreparationHint
from paste_proxy.events.types import Event
from paste_proxy.mining.prediction import Prediction, SessionPredictor


class Chorus:
    """Of equal invocations the most confident candidate speaks; order is by confidence where voices differ."""

    def __init__(self, voices: Sequence[SessionPredictor]) -> None:
        self._voices = voices

    def follow(self, event: Event) -> None:
        """Take an event of the past."""
        for voice in self._voices:
            voice.follow(event)

    def step(self, event: Event) -> Prediction:
        """Take the session's next event."""
        return _together([voice.step(event) for voice in self._voices])

    def suppose(self, past: Sequence[Event], latest: Event) -> Prediction:
        """What would be predicted if these happened next."""
        return _together([voice.suppose(past, latest) for voice in self._voices])


def _together(heard: list[Prediction]) -> Prediction:
    spoke = [prediction for prediction in heard if prediction.candidates or prediction.hints]
    if len(spoke) <= 1:
        return spoke[0] if spoke else Prediction()
    best: dict[str, Candidate] = {}
    hints: list[PreparationHint] = []
    for prediction in spoke:
        hints.extend(prediction.hints)
        for candidate in prediction.candidates:
            known = best.get(candidate.invocation.key)
            if known is None or candidate.confidence > known.confidence:
                best[candidate.invocation.key] = candidate
    ranked = sorted(best.values(), key=lambda candidate: -candidate.confidence)
    return Prediction(tuple(ranked), tuple(hints))
