"""How long a predictor takes for an event."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns

from paste_proxy.bench.percentile import percentile
from paste_proxy.events.types import Event
from paste_proxy.events.values import Json
from paste_proxy.mining.prediction import Prediction

Predict = Callable[[Event], Prediction]


@dataclass(slots=True)
class Stopwatch:
    """The microseconds of every step."""

    micros: list[float] = field(default_factory=list)

    def timed(self, predict: Predict) -> Predict:
        """The same `step` of a predictor, timed."""

        def step(event: Event) -> Prediction:
            begin = perf_counter_ns()
            prediction = predict(event)
            self.micros.append((perf_counter_ns() - begin) / 1_000)
            return prediction

        return step

    def report(self) -> dict[str, Json]:
        """Median and 99th percentile in microseconds, 0 of nothing."""
        return {f"predict_us_p{rank}": self._at(rank / 100) for rank in (50, 99)}

    def _at(self, share: float) -> float:
        return round(percentile(self.micros, share), 1) if self.micros else 0.0
