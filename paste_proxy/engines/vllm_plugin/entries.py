"""The tool cache of Algorithm 5: outputs that clients foresaw, by response and by canonical invocation.

An output is taken once. Each has a lease, and all of them together have a bound in bytes: beyond it those go first
whose leases end first. Nothing here knows of an engine, a socket or a clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json

_MOST_OF_A_RESPONSE = 64
_OVERHEAD = 1_000
"""Bytes that an entry takes beside its texts, at most."""


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
    _of: dict[str, dict[int, Entry]] = field(default_factory=dict, init=False)
    """By response and number, in the order in which they came."""
    _ends: list[tuple[float, int, str]] = field(default_factory=list, init=False)
    """When leases end: a heap, in which those may still stand that are gone."""
    _held: int = field(default=0, init=False)
    _next: int = field(default=0, init=False)

    def __len__(self) -> int:
        return self._held

    def put(self, response: str, entries: Iterable[Entry], now: float) -> int:
        """Keep them for a response; how many are there to stay."""
        self.expire(now)
        numbers = [self._add(response, one) for one in entries if one.until > now and one.size <= self.most_bytes]
        while len(self._of.get(response, ())) > _MOST_OF_A_RESPONSE:
            self._evict(response, next(iter(self._of[response])))
        while self.held_bytes > self.most_bytes:
            _, number, of = heappop(self._ends)
            self._evict(of, number)
        return sum(number in self._of.get(response, ()) for number in numbers)

    def has(self, response: str) -> bool:
        """Whether anything is kept for it."""
        return response in self._of

    def take(self, response: str, calls: Sequence[Invocation], now: float) -> list[str] | None:
        """The outputs of all `calls`, in their order, which are then no longer here; None: some are not."""
        self.expire(now)
        left, outputs = dict(self._of.get(response, {})), list[str]()
        for call in calls:
            number = next((number for number, entry in left.items() if entry.answers(call)), None)
            if number is None:
                return None
            outputs.append(left.pop(number).output)
        for number in self._of.get(response, {}).keys() - left.keys():
            self._remove(response, number)
        return outputs

    def forget(self, response: str) -> None:
        """It is over."""
        for number in list(self._of.get(response, ())):
            self._remove(response, number)

    def expire(self, now: float) -> None:
        """End the leases that have run out."""
        while self._ends and self._ends[0][0] <= now:
            _, number, response = heappop(self._ends)
            self._evict(response, number)

    def _add(self, response: str, entry: Entry) -> int:
        self._next += 1
        self._of.setdefault(response, {})[self._next] = entry
        self.held_bytes += entry.size
        self._held += 1
        heappush(self._ends, (entry.until, self._next, response))
        return self._next

    def _evict(self, response: str, number: int) -> None:
        if number in self._of.get(response, ()):
            self._remove(response, number)
            self.evicted += 1

    def _remove(self, response: str, number: int) -> None:
        entries = self._of[response]
        self.held_bytes -= entries.pop(number).size
        self._held -= 1
        if not entries:
            del self._of[response]
        if len(self._ends) > 2 * self._held + _MOST_OF_A_RESPONSE:
            self._ends = [one for one in self._ends if one[1] in self._of.get(one[2], ())]
            heapify(self._ends)
