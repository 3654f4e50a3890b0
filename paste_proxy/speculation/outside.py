"""Writes by calls that do not pass through the sidecar, seen only in the LLM's stream.

Their ends may never be seen, and call ids may repeat within a turn, so every beginning is kept on its own,
up to a bound.
"""

from collections import deque

OPEN_CALLS = 256
"""Of one session; a client that leaves more open does not report ends at all."""


class OutsideWrites:
    """The effect domains of open calls, by session and call id."""

    def __init__(self) -> None:
        self._open: dict[str, deque[tuple[str, frozenset[str]]]] = {}

    def began(self, session: str, call_id: str, writes: frozenset[str]) -> frozenset[str]:
        """A call is open; returns the domains of one that is given up for it, mostly none."""
        calls = self._open.setdefault(session, deque())
        calls.append((call_id, writes))
        return calls.popleft()[1] if len(calls) > OPEN_CALLS else frozenset()

    def ended(self, session: str, call_id: str) -> frozenset[str]:
        """The oldest open call of this id is over; returns its domains, none where it is not known."""
        calls = self._open.get(session, deque())
        entry = next((entry for entry in calls if entry[0] == call_id), None)
        if entry is None:
            return frozenset()
        calls.remove(entry)
        if not calls:
            del self._open[session]
        return entry[1]

    def forget(self, session: str) -> list[frozenset[str]]:
        """No end of this session's calls will be seen; returns the domains of each."""
        return [writes for _, writes in self._open.pop(session, ())]

    def forget_all(self) -> list[frozenset[str]]:
        """No end of any open call will be seen; returns the domains of each."""
        left = [writes for calls in self._open.values() for _, writes in calls]
        self._open.clear()
        return left
