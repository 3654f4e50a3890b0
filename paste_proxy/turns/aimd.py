"""A band by additive increase and multiplicative decrease, as CONCUR keeps an engine's cache from being overrun.

It knows nothing of what the engine gives: it looks at the share of the cache in use, and at how much of prompts is
found there. It is here to be compared with.
"""

from dataclasses import dataclass, field

from paste_proxy.turns.speeds import Speeds
from paste_proxy.turns.types import EngineLoad
from paste_proxy.turns.window import Window

_KV_LOW, _KV_HIGH = 0.7, 0.9
"""Of the cache: below the first there is room for more, above the second it may be overrun."""
_HITS = 0.5
"""Share of prompts that is found where contexts are not thrown out before they are needed again."""
_INCREASE = 2.0
_DECREASE = 0.5
_LEAST = 4.0
_ROUND_S = 5.0
"""Between two decreases: what one does shows only after a while."""


@dataclass(slots=True)
class AimdBand:
    """See `Band`; turns of average length.

    Args:
        high: the bound to begin with.
        most: what it never exceeds.
    """

    high: float = 32.0
    most: float = 1024.0
    _decreased_at: float = field(default=float("-inf"), init=False)

    @property
    def low(self) -> float:
        """It has no lower bound of its own."""
        return self.high

    def gave(self, window: Window, speeds: Speeds, now: float) -> None:
        """See `Band`."""

    def measured(self, load: EngineLoad, now: float) -> None:
        """See `Band`."""
        if load.kv_used is None:
            return
        if load.kv_used > _KV_HIGH and (load.cache_hits is None or load.cache_hits < _HITS):
            if now - self._decreased_at >= _ROUND_S:
                self.high, self._decreased_at = max(_LEAST, self.high * _DECREASE), now
        elif load.kv_used < _KV_LOW:
            self.high = min(self.high + _INCREASE, self.most)
