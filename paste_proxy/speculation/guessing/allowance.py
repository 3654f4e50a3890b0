"""What asking may cost: calls a minute, samples at once, tokens and money by session and by day.

What a sample may take at most is set aside when it is asked for and corrected when its answer says what it
took. A sample that is cut off keeps what was set aside: nobody tells what it cost. A day is 24 hours from
the first sample in it.
"""

from collections import deque
from dataclasses import dataclass, field

_MINUTE_S, _DAY_S = 60.0, 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessLimits:
    """The bounds; the defaults live in the configuration. None: no bound."""

    concurrent: int
    calls_per_minute: int
    session_tokens: int
    day_tokens: int
    session_cost: float | None = None
    day_cost: float | None = None
    input_price: float = 0.0
    """Of a million tokens, in any currency; the costs are in the same."""
    output_price: float = 0.0

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """What so many tokens cost."""
        return (input_tokens * self.input_price + output_tokens * self.output_price) / 1e6


@dataclass(slots=True)
class Spent:
    """Tokens and money."""

    tokens: int = 0
    cost: float = 0.0

    def add(self, tokens: int, cost: float) -> None:
        """More, or less where it turns out less."""
        self.tokens += tokens
        self.cost += cost


@dataclass(slots=True, eq=False)
class Allowance:
    """What has been used of the limits."""

    limits: GuessLimits
    running: int = 0
    day: Spent = field(default_factory=Spent)
    _day_began: float | None = None
    _sessions: dict[str, Spent] = field(default_factory=dict)
    _asked: deque[float] = field(default_factory=deque)
    """When, of the last minute's samples."""

    def room(self, session: str, wanted: int, input_tokens: int, output_tokens: int, now: float) -> int:
        """How many of the samples wanted may be asked for, each taking at most so many tokens."""
        self._time_passed(now)
        limits = self.limits
        tokens, cost = input_tokens + output_tokens, limits.cost(input_tokens, output_tokens)
        spent = self._sessions.get(session, Spent())
        free = [wanted, limits.concurrent - self.running, limits.calls_per_minute - len(self._asked)]
        for used, most_tokens, most_cost in (
            (spent, limits.session_tokens, limits.session_cost),
            (self.day, limits.day_tokens, limits.day_cost),
        ):
            free.append((most_tokens - used.tokens) // max(tokens, 1))
            if most_cost is not None and cost:
                free.append(int((most_cost - used.cost) / cost))
        return max(0, min(free))

    def asked(self, session: str, input_tokens: int, output_tokens: int, now: float) -> None:
        """One was asked for: set its share aside."""
        self._day_began = now if self._day_began is None else self._day_began
        self.running += 1
        self._asked.append(now)
        self._sessions.setdefault(session, Spent())
        self._add(session, input_tokens, output_tokens)

    def ended(self, session: str, input_tokens: int, output_tokens: int) -> None:
        """One ended: so many tokens more than were set aside, or less."""
        self.running -= 1
        self._add(session, input_tokens, output_tokens)

    def forget(self, session: str) -> None:
        """The session is over."""
        self._sessions.pop(session, None)

    def _add(self, session: str, input_tokens: int, output_tokens: int) -> None:
        tokens, cost = input_tokens + output_tokens, self.limits.cost(input_tokens, output_tokens)
        self.day.add(tokens, cost)
        if session in self._sessions:
            self._sessions[session].add(tokens, cost)

    def _time_passed(self, now: float) -> None:
        while self._asked and now - self._asked[0] >= _MINUTE_S:
            self._asked.popleft()
        if self._day_began is not None and now - self._day_began >= _DAY_S:
            self.day, self._day_began = Spent(), None
