"""Which waiting turn an engine takes next (PASTE 4.3): `ExposedToolGain / LLMPressure + Aging`.

As in `turns.priority`, what a turn gains is a head start in seconds, so that the order of two turns never changes
while they wait, and each is overtaken only by those that came within the longest head start after it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite

_LEAST_PRESSURE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a request says of the task that it is a turn of, in its `vllm_xargs`."""

    name: str = ""
    """`paste_task`: the session."""
    gain_s: float = 0.0
    """`paste_gain`: tool time that is hidden by serving it now."""
    pressure_s: float = 1.0
    """`paste_pressure`: seconds of the engine's work, times the share of the batch, that it needs."""

    linger_s: float = 0.0
    """`paste_linger`: how long its response may wait for a tool's output."""

    def head_start_s(self, most_s: float) -> float:
        """Seconds by which it is put before others that come when it does."""
        return min(self.gain_s / max(self.pressure_s, _LEAST_PRESSURE), most_s)


def task_of(arguments: Mapping[str, object] | None) -> Task:
    """What stands in a request's extra arguments; whatever is no such value counts as not said."""
    said = arguments or {}
    name = said.get("paste_task")
    return Task(
        name=name if isinstance(name, str) else "",
        gain_s=_seconds(said.get("paste_gain"), 0.0),
        pressure_s=_seconds(said.get("paste_pressure"), 1.0),
        linger_s=_seconds(said.get("paste_linger"), 0.0),
    )


def goes_before(rank: float, last_first: Iterable[float | None]) -> int:
    """How many of those at the end of a queue a newcomer is put before.

    Args:
        rank: when it came, less its head start.
        last_first: the same of those that wait, from the end of the queue; None: of one that keeps its place.
    """
    count = 0
    for other in last_first:
        if other is None or other <= rank:
            break
        count += 1
    return count


def _seconds(value: object, otherwise: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        return otherwise
    return float(value)
