"""Which waiting turn an engine takes next (PASTE 4.3): `ExposedToolGain / LLMPressure + Aging`.

As in `turns.priority`, what a turn gains is a head start in seconds, so that the order of two turns never changes
while they wait, and each is overtaken only by those that came within the longest head start after it.
"""

from collections.abc import Mapping, Sequence
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
    )


@dataclass(frozen=True, slots=True)
class Waiting:
    """A turn that waits in an engine."""

    since: float
    head_start_s: float = 0.0
    share: float = 0.0
    """What it adds to the pressure."""


def in_order(turns: Sequence[Waiting], now: float, longest_s: float) -> list[int]:
    """Their positions, the first to go first: those that have waited too long as they came, then by head start."""

    def rank(position: int) -> tuple[bool, float]:
        turn = turns[position]
        late = now - turn.since >= longest_s
        return not late, turn.since - (0.0 if late else turn.head_start_s)

    return sorted(range(len(turns)), key=rank)


def _seconds(value: object, otherwise: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        return otherwise
    return float(value)
