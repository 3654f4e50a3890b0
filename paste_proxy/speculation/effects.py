"""Epochs: who reads what somebody may just have written.

A result is valid only if nothing it read was written since its job started and no write of it is on its
way. Writes are counted where they begin and again where they end, over all sessions, since the state
behind a tool is one for all of them, unless its policy says otherwise.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable

from paste_proxy.speculation.domains import overlap

ABANDONED_S = 60.0
"""How long a write whose end nobody saw may still take effect, in seconds: the usual time-out of a tool
server's own work."""

_WRITTEN_APART = 4_096
"""Domains whose last write is remembered each by itself; those written longest ago share one epoch."""


class Effects:
    """The epochs of all domains, as the count of writes when each was last written."""

    def __init__(self) -> None:
        self.epoch = 0
        """Moves with every write's beginning and end; a job remembers the one it started in."""
        self.over = 0
        """Moves when a write stops being on its way: what waits for one is worth another try."""
        self._written: OrderedDict[str, int] = OrderedDict()
        """Least recently written first."""
        self._forgotten = 0
        """The latest epoch of a domain no longer remembered: what started before it may have missed a write."""
        self._in_flight: Counter[str] = Counter()
        self._lingering: dict[str, float] = {}

    def began(self, writes: Iterable[str]) -> None:
        """A write may take effect from now on."""
        self._bump(writes)
        self._in_flight.update(writes)

    def ended(self, writes: Iterable[str]) -> None:
        """A write that began is over."""
        self._bump(writes)
        for domain in writes:
            self.over += 1
            self._in_flight[domain] -= 1
            if self._in_flight[domain] <= 0:
                del self._in_flight[domain]

    def passed(self, writes: Iterable[str]) -> None:
        """A write began and ended."""
        self._bump(writes)

    def linger(self, writes: Iterable[str], now: float) -> None:
        """A write may still take effect, and nobody will see when: its domains stay dirty for `ABANDONED_S`."""
        self._bump(writes)
        self.settle(now)
        for domain in writes:
            self._lingering[domain] = now + ABANDONED_S

    def moved(self, reads: Iterable[str], since: int) -> bool:
        """Whether one of these domains was written after the epoch `since`."""
        if since < self._forgotten:
            return True
        late = []
        for domain, epoch in reversed(self._written.items()):
            if epoch <= since:
                break
            late.append(domain)
        return _touch(reads, late)

    def dirty(self, reads: Iterable[str], now: float) -> bool:
        """Whether a write of one of these domains is on its way."""
        if not (self._in_flight or self._lingering):
            return False
        self.settle(now)
        return _touch(reads, (*self._in_flight, *self._lingering))

    def settle(self, now: float) -> None:
        """Time passed: what may have lingered until now is over."""
        lapsed = [domain for domain, until in self._lingering.items() if until <= now]
        for domain in lapsed:
            del self._lingering[domain]
        self.over += bool(lapsed)

    def _bump(self, writes: Iterable[str]) -> None:
        self.epoch += 1
        for domain in writes:
            self._written[domain] = self.epoch
            self._written.move_to_end(domain)
        while len(self._written) > _WRITTEN_APART:
            self._forgotten = self._written.popitem(last=False)[1]


def _touch(reads: Iterable[str], writes: Iterable[str]) -> bool:
    return any(overlap(read, write) for read in reads for write in writes)
