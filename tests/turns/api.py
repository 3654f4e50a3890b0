"""A remote API with limits of a key, a fleet that shares the key, and a gate between them; in virtual time."""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random

from paste_proxy.turns.gate import Gate
from paste_proxy.turns.rate_limits import read_limits
from paste_proxy.turns.types import (
    Admit,
    Command,
    Limited,
    Tick,
    Told,
    TurnAway,
    TurnFacts,
    TurnOver,
    TurnReady,
    TurnWrites,
)

EPOCH = 1_800_000_000.0


@dataclass
class Tokens:
    """A bucket of the service: of requests, or of tokens."""

    limit: float
    per_s: float
    level: float = field(init=False)
    at: float = 0.0

    def __post_init__(self) -> None:
        self.level = self.limit

    def refill(self, now: float) -> None:
        self.level, self.at = min(self.limit, self.level + self.per_s * (now - self.at)), now


@dataclass
class Api:
    """Takes requests and tokens from its buckets when a request arrives, and tells what is left."""

    requests: Tokens
    tokens: Tokens
    served: int = 0
    last_served: float = 0.0
    refused: list[float] = field(default_factory=list)
    """When."""

    def arrives(self, tokens: float, now: float) -> tuple[int, dict[str, str]]:
        """Status and headers."""
        both = ((self.requests, 1.0), (self.tokens, tokens))
        for bucket, _ in both:
            bucket.refill(now)
        if any(bucket.level < amount for bucket, amount in both):
            wait_s = max((amount - bucket.level) / bucket.per_s for bucket, amount in both)
            self.refused.append(now)
            return 429, {"Retry-After-Ms": str(int(1_000 * wait_s) + 1), **self.headers()}
        for bucket, amount in both:
            bucket.level -= amount
        self.served, self.last_served = self.served + 1, now
        return 200, self.headers()

    def headers(self) -> dict[str, str]:
        said = {}
        for name, bucket in (("requests", self.requests), ("tokens", self.tokens)):
            said[f"X-RateLimit-Limit-{name.title()}"] = str(int(bucket.limit))
            said[f"X-RateLimit-Remaining-{name.title()}"] = str(int(bucket.level))
            said[f"X-RateLimit-Reset-{name.title()}"] = f"{(bucket.limit - bucket.level) / bucket.per_s:.3f}s"
        return said


class OpenGate:
    def step(self, told: Told, now: float) -> list[Command]:
        return [Admit(turn=told.turn, waited_s=0.0)] if isinstance(told, TurnReady) else []

    def next_deadline(self) -> float | None:
        return None


@dataclass
class Fleet:
    """Sessions of so many turns each, which come again when they are refused."""

    api: Api
    gate: Gate
    random: Random
    sessions: int = 50
    turns: int = 6
    tokens: tuple[int, int] = (500, 3_000)
    ways_s: tuple[float, float] = (0.02, 0.04)
    """To the service."""
    first_s: tuple[float, float] = (0.2, 3.0)
    """Until its answer begins."""
    estimate: float = 1.0
    """What a turn is held to take, against what it does."""
    sent: dict[int, float] = field(default_factory=dict)
    refused: list[int] = field(default_factory=list)
    admitted: list[Admit] = field(default_factory=list)
    first_heard: float | None = None
    """When the first answer came."""

    def run(self) -> float:
        """Play it to its end, and return when that was."""
        self._events: list[tuple[float, int, str, int]] = []
        self._order, self._numbers, self.now = count(), count(1), 0.0
        self._left = dict.fromkeys(range(self.sessions), self.turns)
        self._tokens = {
            (session, left): float(self.random.randint(*self.tokens))
            for session in range(self.sessions)
            for left in range(1, self.turns + 1)
        }
        self._of: dict[int, tuple[int, float]] = {}
        self._said: dict[int, tuple[int, dict[str, str]]] = {}
        for session in range(self.sessions):
            self._later(0.0, "wants", session)
        while True:
            due, soonest = self.gate.next_deadline(), self._events[0][0] if self._events else None
            if due is not None and (soonest is None or due < soonest):
                self.now = max(self.now, due)
                self._tell(Tick())
            elif soonest is None:
                return self.now
            else:
                self.now, _, what, of = heappop(self._events)
                getattr(self, f"_{what}")(of)

    def _later(self, after_s: float, what: str, of: int) -> None:
        heappush(self._events, (self.now + after_s, next(self._order), what, of))

    def _tell(self, told: Told) -> None:
        for command in self.gate.step(told, self.now):
            assert not isinstance(command, TurnAway)
            self.admitted.append(command)
            self.sent[command.turn] = self.now
            self._later(self.random.uniform(*self.ways_s), "arrives", command.turn)

    def _wants(self, session: int) -> None:
        turn, tokens = next(self._numbers), self._tokens[session, self._left[session]]
        self._of[turn] = session, tokens
        facts = TurnFacts(session=str(session), prompt_tokens=self.estimate * tokens - 200, output_tokens=200)
        self._tell(TurnReady(turn=turn, facts=facts))

    def _arrives(self, turn: int) -> None:
        self._said[turn] = self.api.arrives(self._of[turn][1], self.now)
        status = self._said[turn][0]
        self._later(self.random.uniform(*(self.first_s if status == 200 else self.ways_s)), "answers", turn)

    def _answers(self, turn: int) -> None:
        status, headers = self._said[turn]
        self.first_heard = self.now if self.first_heard is None else self.first_heard
        limits = read_limits(status, headers, EPOCH + self.now)
        assert limits is not None
        self._tell(Limited(turn=turn, limits=limits))
        self._tell(TurnWrites(turn=turn))
        session = self._of[turn][0]
        if status == 429:
            self.refused.append(turn)
            self._tell(TurnOver(turn=turn))
            assert limits.retry_after_s is not None
            self._later(limits.retry_after_s, "wants", session)
        else:
            self._later(self.random.uniform(0.1, 5.0), "ends", turn)

    def _ends(self, turn: int) -> None:
        self._tell(TurnOver(turn=turn))
        session = self._of[turn][0]
        self._left[session] -= 1
        if self._left[session]:
            self._later(self.random.uniform(0.0, 2.0), "wants", session)

    @property
    def least_s(self) -> float:
        """In which the service can serve them all."""
        requests, tokens = self.api.requests, self.api.tokens
        return max(
            (self.sessions * self.turns - requests.limit) / requests.per_s,
            (sum(self._tokens.values()) - tokens.limit) / tokens.per_s,
        )

    @property
    def refused_later(self) -> list[int]:
        """Turns that were refused although something of the limits was known when they were sent."""
        assert self.first_heard is not None
        return [turn for turn in self.refused if self.sent[turn] > self.first_heard]
