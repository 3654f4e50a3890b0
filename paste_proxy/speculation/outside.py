"""Writes by calls that do not pass through the sidecar, seen only in the LLM's stream.

Their ends may never be seen, and call ids may repeat within a turn, so every beginning is kept on its own,
up to a bound.
"""

from collections import deque
from typing import NamedTuple

OPEN_CALLS = 256
"""Of one session; a client that leaves more open does not report ends at all."""


class Outside(NamedTuple):
    """What an open call may write; `held`, see `Writes`."""

    writes: frozenset[str]
    held: bool = False


class OutsideWrites:
    """The open calls, by session and call id."""

    def __init__(self) -> None:
        self._open: dict[str, deque[tuple[str, Outside]]] = {}

    def began(self, session: str, call_id: str, call: Outside) -> Outside | None:
        """A call is open; returns one that is given up for it, mostly none."""
        calls = self._open.setdefault(session, deque())
        calls.append((call_id, call))
        return calls.popleft()[1] if len(calls) > OPEN_CALLS else None

    def ended(self, session: str, call_id: str) -> Outside | None:
        """The oldest open call of this id is over; None where it is not known."""
        calls = self._open.get(session, deque())
        entry = next((entry for entry in calls if entry[0] == call_id), None)
        if entry is None:
            return None
        calls.remove(entry)
        if not calls:
            del self._open[session]
        return entry[1]

    def forget(self, session: str) -> list[Outside]:
        """No end of this session's calls will be seen; returns each."""
        return [call for _, call in self._open.pop(session, ())]

    def forget_all(self) -> list[Outside]:
        """No end of any open call will be seen; returns each."""
        left = [call for calls in self._open.values() for _, call in calls]
        self._open.clear()
        return left
