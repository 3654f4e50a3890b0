"""An engine driven from outside: requests at their times, and all that happens with its time."""

from collections.abc import Sequence
from math import inf

from paste_proxy.sim.batching import Begun, Engine, Finished, Happened, Reached, Request, Writes
from paste_proxy.sim.engine_model import EngineModel

STEADY = EngineModel(name="steady", step_s=0.01)
"""Each step takes as long as any other, and prompts cost nothing."""


class Run:
    """All requests, to their ends.

    Args:
        looks_s: how often the engine is looked at besides; what happens does not depend on it.
    """

    def __init__(
        self, model: EngineModel, requests: Sequence[tuple[float, Request]], *, looks_s: float = inf, most: int = 50_000
    ) -> None:
        self.engine = Engine(model)
        self.happened: list[tuple[float, Happened]] = []
        self.fullest = 0.0
        """Tokens of contexts while several turns ran, at most."""
        coming, now, looks = sorted(requests, key=lambda one: one[0]), 0.0, 1
        for _ in range(most):
            at = min(self.engine.next_at(), coming[0][0] if coming else inf)
            if at == inf:
                return
            if looks * looks_s < at:
                self._take(looks * looks_s, self.engine.advance(looks * looks_s))
                looks += 1
                continue
            now = at
            if coming and coming[0][0] <= now:
                self._take(now, self.engine.submit(coming.pop(0)[1], now))
            else:
                self._take(now, self.engine.advance(now))
        raise AssertionError("it never ends")

    def _take(self, now: float, happened: Sequence[Happened]) -> None:
        self.happened += [(now, one) for one in happened]
        if self.engine.load.running > 1:
            self.fullest = max(self.fullest, self.engine.context)

    def spoken(self) -> list[str]:
        """In short."""
        return [f"{now:.2f} {_spoken(one)}" for now, one in self.happened]

    def times(self, kind: type[Happened]) -> dict[int, float]:
        """By turn, when it last happened."""
        return {one.turn: now for now, one in self.happened if isinstance(one, kind)}


def _spoken(happened: Happened) -> str:
    match happened:
        case Begun(turn):
            return f"begun {turn}"
        case Writes(turn):
            return f"writes {turn}"
        case Reached(turn, mark):
            return f"mark {mark} of {turn}"
        case Finished(turn):
            return f"finished {turn}"


def request(
    turn: int, answer: float, prompt: float = 0.0, session: str = "", marks: Sequence[float] = ()
) -> tuple[float, Request]:
    """One that comes at once."""
    return later(0.0, turn, answer, prompt, session, marks)


def later(
    at: float, turn: int, answer: float, prompt: float = 0.0, session: str = "", marks: Sequence[float] = ()
) -> tuple[float, Request]:
    """One that comes then."""
    return at, Request(turn=turn, session=session or f"s{turn}", prompt=prompt, answer=answer, marks=tuple(marks))
