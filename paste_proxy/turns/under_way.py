"""The sessions that have begun and are not over: which of them are between two turns."""

from collections import Counter, OrderedDict

_AT_MOST = 10_000


class UnderWay:
    """Counts them.

    Args:
        away_s: a session between two turns of which nothing was heard for so long is not expected back.
    """

    def __init__(self, away_s: float) -> None:
        self._away_s = away_s
        self._turns: Counter[str] = Counter()
        """Turns that are admitted, or wait although their session has begun, by session."""
        self._away: OrderedDict[str, float] = OrderedDict()
        """Since when; longest first."""

    def __len__(self) -> int:
        return len(self._turns) + len(self._away)

    def come(self, session: str) -> None:
        """A turn of it waits, or was admitted."""
        self._away.pop(session, None)
        self._turns[session] += 1

    def gone(self, session: str, now: float) -> None:
        """One is over."""
        self._turns[session] -= 1
        if self._turns[session] <= 0:
            del self._turns[session]
            self._away[session] = now
            self._away.move_to_end(session)
        while self._away:
            first, since = next(iter(self._away.items()))
            if len(self._away) <= _AT_MOST and now - since < self._away_s:
                break
            del self._away[first]

    def over(self, session: str) -> None:
        """No turn of it follows."""
        self._away.pop(session, None)
