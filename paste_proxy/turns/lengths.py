"""How long an answer may come to, before it is written: as the session's own were, and before the first as all were."""

from collections import OrderedDict

_STATED = 250.0
"""Before any was seen."""
_SESSIONS = 10_000
_REMEMBERED = 8
"""A session's answers, and as many times more of all sessions', that count about alike."""
_ALL = 64


class Lengths:
    """Tokens of answers, learned from those that came; bounded."""

    def __init__(self) -> None:
        self._all, self._seen = _STATED, 0
        self._of: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def expected(self, session: str) -> float:
        """Of the session's next answer."""
        return self._of.get(session, (self._all, 0))[0]

    def seen(self, session: str, tokens: float) -> None:
        """An answer came to so many."""
        self._seen = min(self._seen + 1, _ALL)
        mean, count = self._of.pop(session, (self._all, 0))
        self._all += (tokens - self._all) / self._seen
        count = min(count + 1, _REMEMBERED)
        self._of[session] = mean + (tokens - mean) / (count + 1), count
        if len(self._of) > _SESSIONS:
            self._of.popitem(last=False)

    def forget(self, session: str) -> None:
        """It is over."""
        self._of.pop(session, None)
