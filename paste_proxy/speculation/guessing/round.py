"""One turn's samples: what they name, how many agree, and what the agent's own LLM asked for in the end."""

from collections import Counter
from dataclasses import dataclass, field

from paste_proxy.events.candidate import MODEL, Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.guessing.agreement import Agreement

_CALLS = 8
"""Calls taken from one sample; a small model may run on."""
_NO_CALL = ""
"""What a sample without a call votes for."""


@dataclass(slots=True, eq=False)
class Round:
    """A turn of a session. Once its outcome is known, later samples change nothing."""

    session: str
    opened_at: float
    asked: int = 0
    running: set[int] = field(default_factory=set)
    answers: list[frozenset[str]] = field(default_factory=list)
    """Keys that each sample named, in the order in which they came."""
    target: dict[int, str] = field(default_factory=dict)
    """Keys that the agent's LLM asked for, by order."""
    _calls: dict[str, Invocation] = field(default_factory=dict)
    _votes: Counter[str] = field(default_factory=Counter)
    _levels: list[tuple[str, int, int]] = field(default_factory=list)
    """Key, how many agreed on it, of how many: at every answer, as what followed from it was acted on."""
    _told: dict[str, float] = field(default_factory=dict)

    def take(self, calls: tuple[Invocation, ...], agreement: Agreement) -> tuple[Candidate, ...]:
        """A sample came: the calls that are news, or likelier than was said before; likeliest first."""
        named = {call.key: call for call in calls[:_CALLS]}
        self._calls |= named
        self.answers.append(frozenset(named))
        self._votes.update(list(named) or [_NO_CALL])
        grown = []
        for key, call in self._calls.items():
            self._levels.append((key, self._votes[key], len(self.answers)))
            confidence = agreement.confidence(self._votes[key], len(self.answers))
            if confidence > self._told.get(key, 0.0):
                self._told[key] = confidence
                grown.append(Candidate(invocation=call, confidence=confidence, source=MODEL))
        return tuple(sorted(grown, key=lambda candidate: candidate.confidence, reverse=True))

    def agreed(self, enough: int) -> bool:
        """Whether so many samples name the same call, or none."""
        return max(self._votes.values(), default=0) >= enough

    def first_right(self) -> int | None:
        """The number of the first sample that named a call of the turn, from 1."""
        target = frozenset(self.target.values())
        return next((number for number, named in enumerate(self.answers, 1) if named & target), None)

    def right(self) -> int:
        """How many of the calls guessed were asked for."""
        return len(self._calls.keys() & set(self.target.values()))

    def wrong(self) -> int:
        """And how many were not."""
        return len(self._calls) - self.right()

    def teach(self, agreement: Agreement) -> None:
        """What came of every level of agreement that there was."""
        target = set(self.target.values())
        for key, agreeing, samples in self._levels:
            agreement.learn(agreeing, samples, right=key in target)
