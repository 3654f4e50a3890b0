"""Tools whose service wants fewer calls: nothing is run ahead there for a while, twice as long each time it says so
again, and no shorter than it asks for.

An answer that comes while a tool is closed was sent before, so that it does not count again. An answer that is fine
after that ends the matter.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from paste_proxy.speculation.budgets.limited import Limited

_FIRST_S, _LONGEST_S = 5.0, 600.0
_BELIEVED_S = 86_400.0
"""Of what a service asks for, at most: a garbled figure must not close a tool for good."""
_TOOLS = 1_024


@dataclass(frozen=True, slots=True)
class Closed:
    """A tool that is left alone."""

    tool: str
    until: float
    pause_s: float
    """Its service's pause, the next twice as long."""


class Backoff:
    """The tools that are closed, or were until something fine comes."""

    def __init__(self) -> None:
        self._closed: OrderedDict[str, Closed] = OrderedDict()

    def limited(self, tool: str, said: Limited, now: float) -> None:
        """Its service wants fewer calls."""
        asked = now + min(said.retry_after_s or 0.0, _BELIEVED_S)
        known = self._closed.get(tool)
        if known is None:
            self._close(Closed(tool, max(now + _FIRST_S, asked), _FIRST_S))
        elif now < known.until:
            self._close(replace(known, until=max(known.until, asked)))
        else:
            pause_s = min(2 * known.pause_s, _LONGEST_S)
            self._close(Closed(tool, max(now + pause_s, asked), pause_s))

    def fine(self, tool: str, now: float) -> None:
        """A call of it was answered well."""
        known = self._closed.get(tool)
        if known is not None and now >= known.until:
            del self._closed[tool]

    def closed(self, tool: str, now: float) -> bool:
        """Whether it is to be left alone."""
        known = self._closed.get(tool)
        return known is not None and now < known.until

    def running(self, now: float) -> tuple[Closed, ...]:
        """Those that are closed, the one heard of last at the end."""
        return tuple(one for one in self._closed.values() if now < one.until)

    def resume(self, closed: Iterable[Closed], now: float) -> None:
        """Leave tools alone for as long as was left of their pauses."""
        for one in closed:
            pause_s = min(max(one.pause_s, _FIRST_S), _LONGEST_S)
            self._close(Closed(one.tool, min(one.until, now + _BELIEVED_S), pause_s))

    def _close(self, one: Closed) -> None:
        self._closed[one.tool] = one
        self._closed.move_to_end(one.tool)
        if len(self._closed) > _TOOLS:
            self._closed.popitem(last=False)

    def tools(self, now: float) -> list[tuple[str, float]]:
        """Those that are closed, and for how many seconds more."""
        return [(one.tool, one.until - now) for one in self.running(now)]
