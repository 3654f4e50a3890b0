"""What a guesser is told and what it decides, read like a conversation."""

from dataclasses import dataclass, field

from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.guessing.allowance import GuessLimits
from paste_proxy.speculation.guessing.guesser import Guesser
from paste_proxy.speculation.guessing.types import (
    Ask,
    Decided,
    Heard,
    Sampled,
    SampleEnd,
    Stop,
    Suggest,
    TargetCalled,
    TurnClosed,
    TurnOpened,
)

PLENTY = GuessLimits(concurrent=100, calls_per_minute=10_000, session_tokens=10**9, day_tokens=10**9)
A, B, C = (Invocation("look", {"q": letter}) for letter in "abc")


def guesser(limits: GuessLimits = PLENTY, *, most: int = 3, agree: int = 2, worth: float = 0.001) -> Guesser:
    return Guesser(limits, most=most, agree=agree, answer_tokens=100, second_worth=worth)


@dataclass
class Play:
    """A guesser and a clock."""

    guesser: Guesser = field(default_factory=guesser)
    now: float = 0.0
    turn: int = 0

    def tell(self, heard: Heard, after: float = 0.0) -> list[Decided]:
        self.now += after
        return self.guesser.step(heard, self.now)

    def open(self, session: str = "s", tokens: int = 1_000, after: float = 0.0) -> list[int]:
        """A turn opens; the samples asked for."""
        self.turn += 1
        decided = self.tell(TurnOpened(session=session, turn=self.turn, prompt_tokens=tokens), after)
        return [one.sample for one in decided if isinstance(one, Ask)]

    def sample(self, sample: int, *calls: Invocation, after: float = 0.1) -> list[Decided]:
        heard = Sampled(sample=sample, end=SampleEnd.ANSWERED, calls=calls, input_tokens=1_000, output_tokens=20)
        return self.tell(heard, after)

    def ends(self, sample: int, end: SampleEnd, after: float = 0.0) -> list[Decided]:
        return self.tell(Sampled(sample=sample, end=end), after)

    def call(self, invocation: Invocation, order: int = 0, session: str = "s", after: float = 1.0) -> list[Decided]:
        return self.tell(TargetCalled(session=session, turn=self.turn, order=order, invocation=invocation), after)

    def close(self, session: str = "s", *, complete: bool = True) -> list[Decided]:
        return self.tell(TurnClosed(session=session, turn=self.turn, complete=complete))

    def round(self, guess: Invocation, target: Invocation) -> int:
        """A whole turn whose samples all say the same; how many were asked for."""
        asked = self.open()
        for sample in asked:
            self.sample(sample, guess)
        self.call(target)
        self.close()
        self.now += 1.0
        return len(asked)


def suggested(decided: list[Decided]) -> dict[str, float]:
    """Keys suggested and how likely."""
    return {
        candidate.invocation.key: candidate.confidence
        for one in decided
        if isinstance(one, Suggest)
        for candidate in one.candidates
    }


def stopped(decided: list[Decided]) -> list[int]:
    return [one.sample for one in decided if isinstance(one, Stop)]
