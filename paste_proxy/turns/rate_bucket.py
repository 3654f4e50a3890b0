"""What is left of one limit of a key, between the answers that tell of it: a token bucket.

What an answer tells was so at some moment between its turn's sending and its coming, and nobody knows at which. So the
worst is assumed. With `r` left and `f` refilled a second, the level now is the least over all such moments `t` of
`r + f * (now - t)` less what was sent since `t`, the limit being the most at any time. As refilling and taking keep two
levels in their order, one walk over what was sent finds it.

Turns that are sent at almost the same time may arrive in another order. Their answers are taken together: the least
that one of them tells has counted all that are answered, and those that are not are held to be uncounted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from paste_proxy.turns.types import Allowance

ALMOST_S = 0.25
"""So long a turn may be under way: two that are sent within it may arrive the other way round."""
_CAREFUL = 0.98
"""Of the refill that was told: resets are rounded, and so is what remains."""
_TELLING_S = 2.0
"""A reset of so long tells the refill well enough, where some are rounded to seconds."""
_USUAL_S = 60.0
"""Most limits are per minute."""
_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class Charge:
    """What a turn takes of a limit."""

    at: float
    """When it was sent."""
    amount: float
    counted: float
    """Answers to turns that were sent then or later have counted it."""
    told: float | None = None
    """When its own answer told of the limit; None: it has not, or it makes no difference."""


@dataclass(slots=True)
class Bucket:
    """Nothing waits for it before the limit is known."""

    told_of: float = -inf
    """When the first of those turns was sent whose answers the level is found from."""
    _began: float = -inf
    """When the first of these answers came."""
    _remaining: float = inf
    """The least that one of them told."""
    _heard: float = -inf
    """When it did."""
    _limit: float = inf
    _rate: float = 0.0
    """Refilled a second."""
    _reset_s: float = 0.0
    """What the rate was found from."""
    _level: float = inf
    """At `_at`."""
    _at: float = 0.0

    def told(self, allowance: Allowance, sent: float, now: float) -> None:
        """The answer to a turn that was sent then tells of the limit; it is to be recounted."""
        limit = self._limit_of(allowance)
        if allowance.remaining is None or limit < 1 or sent < self.told_of - ALMOST_S:
            return
        if limit != self._limit:
            self._limit, self._rate, self._reset_s = limit, limit / _USUAL_S, 0.0
        missing = limit - allowance.remaining
        if missing > 0 and allowance.reset_s and allowance.reset_s >= min(self._reset_s, _TELLING_S):
            self._rate, self._reset_s = _CAREFUL * missing / allowance.reset_s, allowance.reset_s
        if sent > self.told_of + ALMOST_S:
            self.told_of, self._began, self._remaining = sent, now, inf
        if allowance.remaining < self._remaining:
            self._remaining, self._heard = allowance.remaining, now

    def recount(self, charges: Iterable[Charge], now: float) -> None:
        """Find the level anew.

        Args:
            charges: of all turns that may not be counted, in the order in which they were sent.
        """
        if self._limit == inf:
            return
        level, at = self._remaining, self.told_of
        for charge in charges:
            if self._may_miss(charge):
                moment = min(max(charge.at + ALMOST_S, at), now)  # it may have been under way for so long
                level, at = self._later(level, at, moment) - charge.amount, moment
        self._level, self._at = self._later(level, at, now), now

    def level(self, now: float) -> float:
        """What is left; it may be less than nothing."""
        return self._refilled(self._level, now - self._at)

    def take(self, amount: float, now: float) -> None:
        """A turn is sent."""
        if self._limit < inf:
            self._level, self._at = self.level(now) - amount, now

    def has(self, amount: float, now: float) -> bool:
        """Whether so much is left; if it is more than the limit, whether nothing is missing."""
        return self.level(now) >= min(amount, self._limit) - _ROUNDING

    def when(self, amount: float) -> float:
        """At what time it has so much, if nothing is sent."""
        missing = min(amount, self._limit) - self._level if self._limit < inf else 0.0
        return self._at + missing / self._rate if missing > 0 else self._at

    def _may_miss(self, charge: Charge) -> bool:
        """Whether what remained may not have counted it."""
        if charge.told is not None and charge.told >= self._began:
            return charge.at > self.told_of + ALMOST_S
        return charge.counted > self.told_of

    def _limit_of(self, allowance: Allowance) -> float:
        """Where it is not told, the most that was ever left."""
        if allowance.limit is not None:
            return allowance.limit
        return max(allowance.remaining or 0.0, 0.0 if self._limit == inf else self._limit)

    def _later(self, level: float, at: float, now: float) -> float:
        """What a level has become; up to the answer it may have been that what remained was so only then."""
        heard = min(self._heard, now)
        if at < heard:
            level, at = min(self._refilled(level, heard - at), self._remaining), heard
        return self._refilled(level, now - at)

    def _refilled(self, level: float, seconds: float) -> float:
        return min(self._limit, level + self._rate * seconds)
