"""How long a key is left alone after it was refused for its limits, and how it is tried again.

After a pause one turn goes alone. If it is served the others follow; if it is refused there is another pause, twice as
long where the service does not say how long.
"""

from dataclasses import dataclass
from math import inf

_FIRST_S, _LONGEST_S = 1.0, 30.0
"""Where the service does not say."""


@dataclass(slots=True)
class Pause:
    """Open until a turn is refused."""

    _since: float = -inf
    _until: float | None = None
    """None: open."""
    _alone: int | None = None
    """The turn that tries, while it does."""
    _next_s: float = _FIRST_S

    def refused(self, turn: int, retry_after_s: float | None, now: float) -> None:
        """A turn was; it may be asked again after so long, where that is told."""
        if turn == self._alone:
            self._alone = None
            self._next_s = min(2 * self._next_s, _LONGEST_S)
        until = now + (self._next_s if retry_after_s is None else retry_after_s)
        self._since, self._until = now, until if self._until is None else max(self._until, until)

    def served(self, sent: float) -> None:
        """A turn was, which was sent at that time: what was sent before the pause says nothing of its end."""
        if sent >= self._since:
            self._until, self._alone, self._next_s = None, None, _FIRST_S

    def sent(self, turn: int) -> None:
        """A turn goes."""
        if self._until is not None:
            self._alone = turn

    def over(self, turn: int) -> None:
        """A turn has ended; if nothing was heard of it, another one tries."""
        if turn == self._alone:
            self._alone = None

    def lets(self, now: float) -> bool:
        """Whether a turn may go."""
        return self._until is None or (self._alone is None and now >= self._until)

    def when(self) -> float:
        """At what time one may; never, before something is heard of the one that tries."""
        if self._until is None:
            return -inf
        return self._until if self._alone is None else inf
