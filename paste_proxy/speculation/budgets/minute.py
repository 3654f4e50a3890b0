"""What happened within the last minute, in memory that does not grow with it."""

from collections import deque

MINUTE_S = 60.0


class Times:
    """When something happened, of which a minute may hold so many.

    Args:
        most: more than so many are not told apart.
    """

    def __init__(self, most: int) -> None:
        self._times: deque[float] = deque(maxlen=most)

    def add(self, now: float) -> None:
        """It happens."""
        self._times.append(now)

    def count(self, now: float) -> int:
        """How often within the minute that ends now."""
        while self._times and now - self._times[0] >= MINUTE_S:
            self._times.popleft()
        return len(self._times)


class Amounts:
    """How much came together; what comes within a second of each other lapses with the first of it."""

    def __init__(self) -> None:
        self._amounts: deque[tuple[float, float]] = deque()

    def add(self, amount: float, now: float) -> None:
        """So much more."""
        if self._amounts and now - self._amounts[-1][0] < 1.0:
            at, before = self._amounts.pop()
            self._amounts.append((at, before + amount))
        else:
            self._amounts.append((now, amount))

    def sum(self, now: float) -> float:
        """How much within the minute that ends now."""
        return sum(amount for _, amount in self.each(now))

    def each(self, now: float) -> tuple[tuple[float, float], ...]:
        """The amounts of the minute that ends now, and when they came."""
        while self._amounts and now - self._amounts[0][0] >= MINUTE_S:
            self._amounts.popleft()
        return tuple(self._amounts)
