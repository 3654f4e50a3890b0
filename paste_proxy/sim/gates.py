"""What stands before the engine in systems that do without the co-scheduler."""

from collections.abc import Iterator
from dataclasses import dataclass

from paste_proxy.turns.types import (
    Admit,
    Command,
    Told,
    TurnFacts,
    TurnOver,
    TurnReady,
)


class OpenGate:
    """Plain vLLM: every turn goes to the engine, which serves them in the order in which they come."""

    def step(self, told: Told, now: float) -> list[Command]:
        """See `Gate`."""
        return [Admit(turn=told.turn, waited_s=0.0)] if isinstance(told, TurnReady) else []

    def next_deadline(self) -> None:
        """Nothing ever waits."""


@dataclass(slots=True)
class _Waiting:
    facts: TurnFacts
    since: float


class LeastAttained:
    """Agentix: programs are served that were served least so far (Luo et al., 2026).

    The engine's own queue stays empty, so that the order is this one.

    Args:
        most: turns that the engine takes at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[int, _Waiting] = {}
        self._running: dict[int, TurnFacts] = {}
        self._attained: dict[str, float] = {}
        """Tokens that a session was served."""

    def step(self, told: Told, now: float) -> list[Command]:
        """See `Gate`."""
        match told:
            case TurnReady():
                self._waiting[told.turn] = _Waiting(told.facts, now)
            case TurnOver():
                self._waiting.pop(told.turn, None)
                facts = self._running.pop(told.turn, None)
                if facts is not None:
                    served = facts.prompt_tokens - facts.cached_tokens + facts.output_tokens
                    self._attained[facts.session] = self._attained.get(facts.session, 0.0) + served
            case _:
                pass
        return list(self._fill(now))

    def next_deadline(self) -> None:
        """Nobody is let in for having waited long."""

    def _fill(self, now: float) -> Iterator[Command]:
        while self._waiting and len(self._running) < self._most:
            turn = min(self._waiting, key=lambda turn: (self._served(turn), self._waiting[turn].since, turn))
            waiting = self._waiting.pop(turn)
            self._running[turn] = waiting.facts
            yield Admit(turn=turn, waited_s=now - waiting.since)

    def _served(self, turn: int) -> float:
        return self._attained.get(self._waiting[turn].facts.session, 0.0)
