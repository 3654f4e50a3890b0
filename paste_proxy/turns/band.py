"""The band that an engine's pressure is kept in, found from what the engine gives (PASTE 4.3).

An engine gives more tokens a second the more turns it has, up to a knee; past that it gives no more, or less: its
attention and its cache are overrun. `P_high` is that knee. It is found by going up from a small batch, as a connection
finds its window (slow start): while turns wait, the bound is raised by half an octave as long as the engine gets
faster by it, and then set back to where it was fastest. Now and then one step higher is tried again, and one lower,
since an engine's load changes. Whatever the knee is, no more than the engine's cache has room for is let in.
"""

from dataclasses import dataclass, field
from math import ceil, hypot, inf, log2, sqrt
from typing import Protocol

from paste_proxy.turns.speeds import Speeds
from paste_proxy.turns.types import EngineLoad
from paste_proxy.turns.window import Window

STEP = 2**0.5
"""Half an octave."""
_WINDOWS = 2
"""So many make a rate at one bound."""
_REMEMBERED = 12
_SPREAD = 0.04
"""Of rates of single windows, as a share."""
_USUAL = 3.0
"""So many windows' worth of that is believed."""
_FULL = 0.85
"""Share of the bound that counts as reaching it."""
_FASTER = 1.01
"""An engine that gives so much more for half an octave gets faster; for less it is not worth to have more turns wait in
it for each other."""
_ENOUGH = 0.95
"""Share of the most that is as good: no more sessions need to begin for the rest."""
_CACHE_FULL = 0.95
"""Share of an engine's cache from which it has no room for one turn more."""
_QUEUES = 0.8
"""Nor has one that is as full as this while turns wait in the engine's own queue."""
_AT_HAND = 1.15
"""So many turns, of those that run, are before the cache and in it."""
_LOOKS = 4.0
"""What runs at one look is more or less than what there is room for."""
_ROOMIER = 1.02
"""So much more is tried at each look, once there is room."""
_PROBE_S = 60.0
_PROBES_S = 1_800.0
"""Between two tries: at first, and at most."""
_PROBED_S = 20.0
"""A try that has shown nothing for so long is given up."""


class Band(Protocol):
    """What bounds the pressure."""

    @property
    def low(self) -> float:
        """P_low: from here on the engine gives nearly as much as it can, so that no session needs to begin; below it no
        turn is held."""

    @property
    def high(self) -> float:
        """P_high: above it no turn is admitted, unless it has waited as long as any may."""

    def gave(self, window: Window, speeds: Speeds, now: float) -> None:
        """What the engine gave of late."""

    def measured(self, load: EngineLoad, now: float) -> None:
        """What the engine says of itself."""


@dataclass(frozen=True, slots=True)
class FixedBand:
    """One that a person has set."""

    low: float
    high: float

    def gave(self, window: Window, speeds: Speeds, now: float) -> None:
        """It is as it is."""

    def measured(self, load: EngineLoad, now: float) -> None:
        """It is as it is."""


@dataclass(slots=True)
class _Rate:
    """Tokens a second that the engine gives under one bound, prompts left out."""

    per_s: float = 0.0
    windows: int = 0
    _spread: float = 0.0

    def add(self, per_s: float) -> None:
        self.windows = min(self.windows + 1, _REMEMBERED)
        apart = per_s - self.per_s
        self.per_s += apart / self.windows
        self._spread += (apart * (per_s - self.per_s) - self._spread) / self.windows

    @property
    def error(self) -> float:
        """How far off the mean may be; few windows tell less of their spread than is known of windows at all."""
        usual = (_SPREAD * self.per_s) ** 2
        return sqrt((self.windows * self._spread + _USUAL * usual) / (self.windows + _USUAL) / self.windows)

    def clear(self, other: "_Rate") -> bool:
        """Whether it is clear which of two is the faster, or has been looked at for long enough."""
        return self.windows >= _REMEMBERED or abs(self.per_s - other.per_s) > hypot(self.error, other.error)


@dataclass(slots=True)
class KneeBand:
    """One that is found.

    Args:
        first: the bound to begin with, in average turns.
        most: beyond it nothing is bounded.
    """

    first: float = 32.0
    most: float = 1024.0
    found: bool = False
    """Whether it is known where the engine is fastest."""
    _level: int = field(init=False)
    """Of the bound, in half octaves."""
    _low: int = field(init=False)
    _rates: dict[int, _Rate] = field(default_factory=dict)
    _probe_s: float = _PROBE_S
    _settled_at: float = -inf
    _settled: int = 0
    """The level that was found, while another is tried; 0: none is."""
    _down: bool = False
    """The next try goes down."""
    _room: float = inf
    """Turns that the engine's cache has room for, as far as it has shown."""

    def __post_init__(self) -> None:
        self._level = self._low = _level(self.first)

    @property
    def high(self) -> float:
        """See `Band`."""
        return max(1.0, min(STEP**self._level, self._room))

    @property
    def low(self) -> float:
        """See `Band`."""
        return min(STEP ** min(self._low, self._level) if self.found and not self._settled else inf, self.high)

    def gave(self, window: Window, speeds: Speeds, now: float) -> None:
        """See `Band`."""
        if window.pressure < 1.0 or not window.token_s:
            return
        level, wanted = _level(window.pressure), window.wanted_s >= window.seconds / 2
        rate = self._rates.setdefault(level, _Rate())
        rate.add(window.writing / speeds.alone_s(window))
        full = level == self._level and wanted and window.pressure >= _FULL * self.high
        if self._settled and now - self._settled_at >= _PROBED_S:
            self._settle(self._settled, now)
        elif full and rate.windows >= _WINDOWS:
            self._full(now)

    def measured(self, load: EngineLoad, now: float) -> None:
        """What waits for room in its cache might as well wait here, where the order is ours; but for the few that fill
        at once what comes free, sooner than anybody here hears of it."""
        kv_used = load.kv_used or 0.0
        if kv_used >= _CACHE_FULL or (load.waiting and kv_used >= _QUEUES):
            room = max(1.0, load.running * _AT_HAND)
            self._room = min(self.high, self._room)
            self._room += (room - self._room) / _LOOKS
        else:
            self._room *= _ROOMIER

    def _full(self, now: float) -> None:
        """Turns waited, the engine had as many as it may, and it is known what it gives then."""
        if self._settled:
            self._tried(now)
        elif not self.found:
            self._search(now)
        elif now - self._settled_at >= self._probe_s:
            self._try(now)

    def _search(self, now: float) -> None:
        """Up by octaves while that is faster, then by half an octave about the best."""
        known = {level: rate.per_s for level, rate in self._rates.items() if rate.windows >= _WINDOWS}
        best = self._best(known)
        rival = max((level for level in known if level != self._level), key=known.__getitem__, default=None)
        if rival is not None and not self._rates[self._level].clear(self._rates[rival]):
            return
        top, most = max(known), _level(self.most)
        if best == most:
            self._settle(best, now)
        elif best == top:
            self._level = min(top + 2, most)
        elif best + 1 not in known:
            self._level = best + 1
        elif best - 1 not in known and best > 1:
            self._level = best - 1
        else:
            self._settle(best, now)

    def _best(self, known: dict[int, float]) -> int:
        """The least level that no higher one is clearly faster than."""
        best = min(known)
        for level in sorted(known):
            if known[level] >= known[best] * _FASTER:
                best = level
        return best

    def _try(self, now: float) -> None:
        self._settled, self._settled_at = self._level, now
        self._level = max(1, self._level - 1) if self._down else min(self._level + 1, _level(self.most))
        self._down = not self._down
        self._rates.pop(self._level, None)  # what it gave there was long ago

    def _tried(self, now: float) -> None:
        if not self._rates[self._level].clear(self._rates[self._settled]):
            return
        before, here = self._rates[self._settled].per_s, self._rates[self._level].per_s
        better = here >= before * (_FASTER if self._level > self._settled else 1.0)
        self._probe_s = _PROBE_S if better else min(2 * self._probe_s, _PROBES_S)
        self._settle(self._level if better else self._settled, now)

    def _settle(self, level: int, now: float) -> None:
        self._level, self.found, self._settled_at, self._settled = level, True, now, 0
        enough = self._rates[level].per_s * _ENOUGH if level in self._rates else inf
        known = [low for low, rate in self._rates.items() if low <= level and rate.per_s >= enough]
        self._low = min(known, default=level)


def _level(pressure: float) -> int:
    """The least level whose bound is no lower."""
    return max(1, ceil(2 * log2(pressure) - 1e-9))
