"""Asks a speculative LLM for the call of the turn that the agent's LLM is at (Algorithm 2, client side).

Samples are asked for at once and in parallel; the rest are stopped as soon as enough agree, the agent's
own LLM has written its call, or the turn is over. A fault of the endpoint costs nothing but guesses: after
each in a row the guesser leaves it alone for longer.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from itertools import count
from statistics import fmean
from typing import assert_never

from paste_proxy.speculation.guessing.agreement import Agreement
from paste_proxy.speculation.guessing.allowance import Allowance, GuessLimits
from paste_proxy.speculation.guessing.appetite import Appetite
from paste_proxy.speculation.guessing.round import Round
from paste_proxy.speculation.guessing.types import (
    Ask,
    Decided,
    Heard,
    Judged,
    Sampled,
    SampleEnd,
    SessionLeft,
    Stop,
    Suggest,
    TargetCalled,
    ToolRan,
    TurnClosed,
    TurnOpened,
)

_LONGEST_TURN_S = 3_600.0
"""The end of a turn may go unseen."""
_TURNS = 4_096
_LONGEST_PAUSE_S = 60.0
_OUTPUT_TOKENS = 64
"""What a call takes, before the first was counted."""
_RECENT = 64


@dataclass(frozen=True, slots=True)
class _Sample:
    """One that was asked for and has not ended."""

    turn: tuple[str, int]
    asked_at: float
    input_tokens: int


class Guesser:
    """The state machine of all sessions' samples.

    Args:
        limits: what asking may cost.
        most: samples for one turn at most.
        agree: so many samples of one mind are enough.
        answer_tokens: what a sample may write at most.
        second_worth: what a second saved is worth, in the currency of the limits' prices.
    """

    def __init__(self, limits: GuessLimits, *, most: int, agree: int, answer_tokens: int, second_worth: float) -> None:
        self._limits, self._most, self._agree = limits, most, agree
        self._answer_tokens, self._second_worth = answer_tokens, second_worth
        self._allowance, self._appetite, self._agreement = Allowance(limits), Appetite(most), Agreement()
        self._rounds: OrderedDict[tuple[str, int], Round] = OrderedDict()
        self._samples: dict[int, _Sample] = {}
        self._numbers = count(1)
        self._outputs: deque[int] = deque([_OUTPUT_TOKENS], _RECENT)
        self._failures, self._paused_until = 0, 0.0
        self.appetite = 0
        """Samples that the latest turn was found worth, before the limits."""

    def step(self, heard: Heard, now: float) -> list[Decided]:
        """Take what happened at `now`; return what to do, in order. `now` never goes back."""
        match heard:
            case TurnOpened():
                return self._opened(heard, now)
            case Sampled():
                return self._sampled(heard, now)
            case TargetCalled():
                return self._called(heard, now)
            case TurnClosed():
                return self._closed((heard.session, heard.turn), now, complete=heard.complete)
            case ToolRan(seconds):
                self._appetite.ran(seconds)
            case SessionLeft(session):
                self._allowance.forget(session)
                gone = [turn for turn in self._rounds if turn[0] == session]
                return [stop for turn in gone for stop in self._closed(turn, now, complete=False)]
            case _:
                assert_never(heard)
        return []

    def _opened(self, opened: TurnOpened, now: float) -> list[Decided]:
        decided = self._make_room(now)
        turn = opened.session, opened.turn
        this = self._rounds[turn] = Round(opened.session, now)
        price = self._limits.cost(opened.prompt_tokens, fmean(self._outputs)) / self._second_worth
        self.appetite = self._appetite.samples(price)
        if now < self._paused_until:
            return decided
        spend = opened.prompt_tokens, self._answer_tokens
        for _ in range(self._allowance.room(opened.session, self.appetite, *spend, now)):
            number = next(self._numbers)
            self._allowance.asked(opened.session, *spend, now)
            self._samples[number] = _Sample(turn, now, opened.prompt_tokens)
            this.running.add(number)
            decided.append(Ask(number))
        this.asked = len(this.running)
        return decided

    def _sampled(self, sampled: Sampled, now: float) -> list[Decided]:
        sample = self._samples.pop(sampled.sample, None)
        if sample is None:
            return []
        self._account(sample, sampled, now)
        this = self._rounds.get(sample.turn)
        if this is None or sampled.sample not in this.running:
            return []
        this.running.discard(sampled.sample)
        if sampled.end is not SampleEnd.ANSWERED:
            return []
        self._appetite.guessed(now - sample.asked_at)
        candidates = this.take(sampled.calls, self._agreement)
        decided: list[Decided] = [Suggest(session=this.session, candidates=candidates)] if candidates else []
        return [*decided, *self._stop(this)] if this.agreed(self._agree) else decided

    def _called(self, called: TargetCalled, now: float) -> list[Decided]:
        this = self._rounds.get((called.session, called.turn))
        if this is None:
            return []
        if not this.target:
            self._appetite.generated(now - this.opened_at)
        this.target[called.order] = called.invocation.key
        return self._too_late(this, now)

    def _closed(self, turn: tuple[str, int], now: float, *, complete: bool) -> list[Decided]:
        this = self._rounds.pop(turn, None)
        if this is None:
            return []
        decided = self._too_late(this, now)
        if complete and this.answers:
            this.teach(self._agreement)
            self._appetite.judged(len(this.answers), this.first_right())
            decided.append(Judged(right=this.right(), wrong=this.wrong()))
        return decided

    def _too_late(self, this: Round, now: float) -> list[Decided]:
        """The turn's outcome is known: what has not come by now is of no use."""
        for number in this.running:
            self._appetite.guessed(now - self._samples[number].asked_at)
        return self._stop(this)

    def _stop(self, this: Round) -> list[Decided]:
        running, this.running = sorted(this.running), set()
        return [Stop(number) for number in running]

    def _make_room(self, now: float) -> list[Decided]:
        decided: list[Decided] = []
        while self._rounds:
            turn, oldest = next(iter(self._rounds.items()))
            if len(self._rounds) < _TURNS and now - oldest.opened_at < _LONGEST_TURN_S:
                break
            decided += self._closed(turn, now, complete=False)
        return decided

    def _account(self, sample: _Sample, sampled: Sampled, now: float) -> None:
        """What the sample took beyond what was set aside for it, and whether the endpoint works."""
        read, wrote = sample.input_tokens, self._answer_tokens
        match sampled.end:
            case SampleEnd.ANSWERED:
                read = read if sampled.input_tokens is None else sampled.input_tokens
                if sampled.output_tokens is not None:
                    wrote = sampled.output_tokens
                    self._outputs.append(wrote)
            case SampleEnd.FAILED:
                read = wrote = 0
            case SampleEnd.STOPPED | SampleEnd.TIMED_OUT:
                pass
            case _:
                assert_never(sampled.end)
        self._allowance.ended(sample.turn[0], read - sample.input_tokens, wrote - self._answer_tokens)
        self._health(sampled.end, now)

    def _health(self, end: SampleEnd, now: float) -> None:
        if end is SampleEnd.ANSWERED:
            self._failures = 0
        elif end in (SampleEnd.FAILED, SampleEnd.TIMED_OUT):
            self._failures += 1
            self._paused_until = now + min(_LONGEST_PAUSE_S, 2.0 ** min(self._failures - 1, 10))
