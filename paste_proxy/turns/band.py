"""The band that an engine's pressure is kept in, found from what the engine gives (PASTE 4.3).

An engine gives more tokens a second the more turns it has, up to a knee; past that it gives no more, or less: its
attention and its cache are overrun. `P_high` is that knee. It is found by going up from a small batch, as a
connection finds its window (slow start): while turns wait, the bound is raised by half an octave as long as the engine
gets no slower by it, and then set back to where it was fastest. Now and then one step higher is tried again, since an
engine's load changes. An engine without a knee is not bounded for long.
"""

from dataclasses import dataclass, field
from math import inf, log2
from typing import Protocol

from paste_proxy.turns.types import EngineLoad

STEP = 2**0.5
"""Half an octave."""
_WINDOW_S = 1.0
"""A rate is taken over so long."""
_WINDOWS = 2
"""So many windows make a rate at one pressure."""
_REMEMBERED = 10
_FULL = 0.85
"""Share of the bound that counts as reaching it."""
_WORSE = 0.97
"""An engine that gives less than this share of the most is overrun."""
_PROBE_S = 120.0
_PROBES_S = 1_800.0
"""Between two tries of one step more: at first, and at most."""
_LOW = 0.75
"""`P_low`, as a share of `P_high`."""


class Band(Protocol):
    """What bounds the pressure."""

    @property
    def low(self) -> float:
        """P_low: below it no turn is held, so that the engine is never idle for want of turns."""

    @property
    def found(self) -> bool:
        """Whether that is where the engine is fastest, as far as is known: then it is worth to keep sessions out."""

    @property
    def high(self) -> float:
        """P_high: above it no turn is admitted, unless it has waited as long as any may."""

    def gave(self, tokens: float, pressure: float, seconds: float, now: float, *, wanted: bool) -> None:
        """What the engine gave while its pressure was about this.

        Args:
            wanted: whether turns waited.
        """

    def measured(self, load: EngineLoad, now: float) -> None:
        """What the engine says of itself."""


@dataclass(frozen=True, slots=True)
class FixedBand:
    """One that a person has set."""

    low: float
    high: float
    found: bool = True

    def gave(self, tokens: float, pressure: float, seconds: float, now: float, *, wanted: bool) -> None:
        """It is as it is."""

    def measured(self, load: EngineLoad, now: float) -> None:
        """It is as it is."""


@dataclass(slots=True)
class _Rate:
    """Tokens a second at one pressure."""

    per_s: float = 0.0
    windows: int = 0

    def add(self, per_s: float) -> None:
        self.windows = min(self.windows + 1, _REMEMBERED)
        self.per_s += (per_s - self.per_s) / self.windows


@dataclass(slots=True)
class KneeBand:
    """One that is found.

    Args:
        first: the bound to begin with, in average turns.
        most: beyond it nothing is bounded.
    """

    first: float = 32.0
    most: float = 1024.0
    high: float = field(init=False)
    found: bool = False
    """Whether the engine was seen to have a knee."""
    _rates: dict[int, _Rate] = field(default_factory=dict)
    """By half octaves of pressure."""
    _tokens: float = 0.0
    _pressure_s: float = 0.0
    _seconds: float = 0.0
    _wanted_s: float = 0.0
    _probe_s: float = _PROBE_S
    _probed_at: float = -inf

    def __post_init__(self) -> None:
        self.high = self.first

    @property
    def low(self) -> float:
        """See `Band`."""
        return self.high * _LOW

    def gave(self, tokens: float, pressure: float, seconds: float, now: float, *, wanted: bool) -> None:
        """See `Band`."""
        self._tokens += tokens
        self._seconds += seconds
        self._pressure_s += pressure * seconds
        self._wanted_s += seconds if wanted else 0.0
        if self._seconds >= _WINDOW_S:
            self._window(now)
            self._tokens = self._seconds = self._pressure_s = self._wanted_s = 0.0

    def measured(self, load: EngineLoad, now: float) -> None:
        """Its cache bounds it, too, but that shows in what it gives."""

    def _window(self, now: float) -> None:
        pressure = self._pressure_s / self._seconds
        if pressure < 1.0 or self._tokens <= 0.0:
            return
        place = _place(pressure)
        rate = self._rates.setdefault(place, _Rate())
        rate.add(self._tokens / self._seconds)
        if pressure >= _FULL * self.high and self._wanted_s >= self._seconds / 2:
            self._full(place, now)

    def _full(self, place: int, now: float) -> None:
        """Turns waited, and the engine had as many as it may."""
        fastest, at = max(((rate.per_s, at) for at, rate in self._rates.items() if at < place), default=(0.0, place))
        here = self._rates[place]
        if here.per_s < fastest * _WORSE:
            if here.windows >= _WINDOWS:
                self.high, self.found, self._probed_at = STEP ** (at + 0.5), True, now
        elif not self.found:
            self.high = min(self.high * STEP, self.most)
        elif now - self._probed_at >= self._probe_s:
            self._probed_at, self._probe_s = now, min(2 * self._probe_s, _PROBES_S)
            self._rates.pop(place + 1, None)  # what it gave there was long ago
            self.high = min(self.high * STEP, self.most)


def _place(pressure: float) -> int:
    return int(2 * log2(pressure))
