"""The tool cache of Algorithm 5: outputs that clients foresaw, by response and by canonical invocation.

An output is taken once. Each has a lease, and all of them together have a bound in bytes: beyond it those go first
whose leases end first. Nothing here knows of an engine, a socket or a clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json

_MOST_OF_A_RESPONSE = 64
_MOST_RESPONSES = 4_096
_OVERHEAD = 200
"""Bytes that an entry takes beside its texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The output of a tool, foreseen."""

    name: str
    params: dict[str, Json] | None = None
    """None: whatever the tool is called with."""
    output: str
    until: float
    """When its lease ends."""

    def answers(self, call: Invocation) -> bool:
        """Whether this is the output of the call, by its canonical arguments."""
        return call.tool == self.name and (self.params is None or Invocation(self.name, self.params).key == call.key)

    @property
    def size(self) -> int:
        """Bytes."""
        return _OVERHEAD + len(self.output.encode("utf-8", "surrogatepass")) + len(repr(self.params))


@dataclass(slots=True)
class ToolOutputs:
    """Entries of all responses.

    Args:
        most_bytes: of all of them.
    """

    most_bytes: int
    held_bytes: int = field(default=0, init=False)
    evicted: int = field(default=0, init=False)
    """Thrown out before they were asked for: for want of room, or since their leases had ended."""
    _of: dict[str, list[Entry]] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def put(self, response: str, entries: Iterable[Entry], now: float) -> int:
        """Keep them for a response; how many are there to stay."""
        self.expire(now)
        new = [entry for entry in entries if entry.until > now and entry.size <= self.most_bytes]
        for entry in new:
            self._of.setdefault(response, []).append(entry)
            self.held_bytes += entry.size
        while len(self._of.get(response, ())) > _MOST_OF_A_RESPONSE:
            self._drop(response, self._of[response][0])
        while self.held_bytes > self.most_bytes or len(self._of) > _MOST_RESPONSES:
            self._drop(*min(self._all(), key=lambda one: one[1].until))
        return sum(any(kept is entry for kept in self._of.get(response, ())) for entry in new)

    def has(self, response: str) -> bool:
        """Whether anything is kept for it."""
        return response in self._of

    def take(self, response: str, calls: Sequence[Invocation], now: float) -> list[str] | None:
        """The outputs of all `calls`, in their order, which are then no longer here; None: some are not."""
        self.expire(now)
        left, found = list(self._of.get(response, ())), list[Entry]()
        for call in calls:
            entry = next((one for one in left if one.answers(call)), None)
            if entry is None:
                return None
            found.append(entry)
            left = [one for one in left if one is not entry]
        for entry in found:
            self._remove(response, entry)
        return [entry.output for entry in found]

    def forget(self, response: str) -> None:
        """It is over."""
        for entry in self._of.get(response, [])[:]:
            self._remove(response, entry)

    def expire(self, now: float) -> None:
        """End the leases that have run out."""
        for response, entry in [one for one in self._all() if one[1].until <= now]:
            self._drop(response, entry)

    def _all(self) -> Iterable[tuple[str, Entry]]:
        return ((response, entry) for response, entries in self._of.items() for entry in entries)

    def _drop(self, response: str, entry: Entry) -> None:
        self._remove(response, entry)
        self.evicted += 1

    def _remove(self, response: str, entry: Entry) -> None:
        kept = [one for one in self._of[response] if one is not entry]
        self.held_bytes -= entry.size
        if kept:
            self._of[response] = kept
        else:
            del self._of[response]
