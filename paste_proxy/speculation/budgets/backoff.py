"""Tools whose service wants fewer calls: nothing is run ahead there for a while, twice as long each time it says so
again, and no shorter than it asks for.

An answer that comes while a tool is closed was sent before, so that it does not count again. An answer that is fine
after that ends the matter.
"""

from collections import OrderedDict
from dataclasses import dataclass

from paste_proxy.speculation.budgets.limited import Limited

_FIRST_S, _LONGEST_S = 5.0, 600.0
_BELIEVED_S = 86_400.0
"""Of what a service asks for, at most: a garbled figure must not close a tool for good."""
_TOOLS = 1_024


@dataclass(slots=True)
class _Closed:
    until: float
    pause_s: float


class Backoff:
    """The tools that are closed, or were until something fine comes."""

    def __init__(self) -> None:
        self._closed: OrderedDict[str, _Closed] = OrderedDict()

    def limited(self, tool: str, said: Limited, now: float) -> None:
        """Its service wants fewer calls."""
        asked = min(said.retry_after_s or 0.0, _BELIEVED_S)
        known = self._closed.pop(tool, None)
        if known is None:
            known = _Closed(now, _FIRST_S)
        elif now >= known.until:
            known.pause_s = min(2 * known.pause_s, _LONGEST_S)
        known.until = max(known.until, now + max(known.pause_s if now >= known.until else 0.0, asked))
        self._closed[tool] = known
        if len(self._closed) > _TOOLS:
            self._closed.popitem(last=False)

    def fine(self, tool: str, now: float) -> None:
        """A call of it was answered well."""
        known = self._closed.get(tool)
        if known is not None and now >= known.until:
            del self._closed[tool]

    def closed(self, tool: str, now: float) -> bool:
        """Whether it is to be left alone."""
        known = self._closed.get(tool)
        return known is not None and now < known.until

    def tools(self, now: float) -> list[tuple[str, float]]:
        """Those that are closed, and for how many seconds more."""
        return [(tool, known.until - now) for tool, known in self._closed.items() if now < known.until]
