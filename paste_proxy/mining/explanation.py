"""A recorded session turn by turn: what had been foreseen just before each, what it asked for, and why.

The turns are those of `moments`, and a call's rank is the one that `verdicts` judges it by.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.cored import Core, as_asked, cored
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.moments import moments_of, turns_of
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.reasons import Drawn, Given, Moment, Reasons, Weight
from paste_proxy.mining.window import Observation, Window
from paste_proxy.mining.words import context_in_words, mapper_in_words, shortened, trait_in_words


@dataclass(frozen=True, slots=True)
class Sight:
    """What was to be seen just before a turn."""

    turn: int
    """From 1; one more than there are, after the last one."""
    event: int
    """The latest event that was known, by its number in the session, from 0; -1 if none was."""
    candidates: tuple[Candidate, ...]
    asked: tuple[tuple[Invocation, int | None], ...]
    """What the turn asked for, and the rank of each among the candidates, from 1; those that an earlier call of the
    turn took are not counted."""


class Explanation:
    """One session in the light of a pool.

    Args:
        core: what is shown to the predictor and compared.
        executable: tools that are predicted.
    """

    def __init__(
        self,
        session: Recorded,
        pool: Pool,
        core: Core = as_asked,
        executable: Callable[[str], bool] = lambda tool: True,
    ) -> None:
        self._events = [cored(event, core) for event in session.events]
        self._pool, self._core, self._executable = pool, core, executable
        self._turns = turns_of(self._events)
        self._window = Window()
        self._began: list[tuple[Observation, int]] = []
        self._answered: list[tuple[Observation, int]] = []

    @property
    def turns(self) -> int:
        """How many turns were recorded."""
        return len(self._turns)

    def sights(self) -> Iterator[Sight]:
        """The session from its first turn to what may come after its last. Where nothing new was known before a turn
        there is no candidate for it."""
        last_before = {one.turn: one.index for one in moments_of(self._events, self._turns)}
        moments = {index: turn for turn, index in last_before.items()}
        sudden = {turn.start: number for number, turn in enumerate(self._turns) if number not in last_before}
        predictor = Predictor(self._pool, executable=self._executable)
        for index, event in enumerate(self._events):
            if index in sudden:
                calls = self._turns[sudden[index]].calls
                yield Sight(sudden[index] + 1, index - 1, (), tuple((call, None) for call in calls))
            self._step(index, event)
            candidates = predictor.step(event).candidates
            if index in moments:
                turn = moments[index]
                calls = self._turns[turn].calls if turn < len(self._turns) else []
                yield Sight(turn + 1, index, candidates, tuple(self._ranked(candidates, calls)))

    def reasons(self, sight: Sight) -> list[Reasons]:
        """Why each candidate of the latest sight is one."""
        moment = Moment(self._pool, self._window, self._executable)
        return [moment.reasons(candidate) for candidate in sight.candidates]

    def report(self, sight: Sight) -> dict[str, Json]:
        """The latest sight with its reasons, as JSON."""
        return {
            "turn": sight.turn,
            "turns": self.turns,
            "after": self._event(sight.event) if sight.event >= 0 else None,
            "asked": [{**written(call), "rank": rank} for call, rank in sight.asked],
            "candidates": [
                {**written_candidate(one), "why": self._reasons(why)}
                for one, why in zip(sight.candidates, self.reasons(sight), strict=True)
            ],
        }

    def _step(self, index: int, event: Event) -> None:
        seen = self._window.observations
        before = seen[-1] if seen else None
        self._window.step(event)
        if seen and seen[-1] is not before:
            self._began.append((seen[-1], index))
        if isinstance(event, ToolOutput):
            of_call = [one for one in seen if one.call_id == event.call_id and one.said is not None]
            self._answered += [(one, index) for one in of_call[-1:]]

    def _ranked(
        self, candidates: Sequence[Candidate], calls: Sequence[Invocation]
    ) -> Iterator[tuple[Invocation, int | None]]:
        left = list(dict.fromkeys(self._core(one.invocation).key for one in candidates))
        for call in calls:
            rank = left.index(call.key) if call.key in left else None
            yield call, None if rank is None else rank + 1
            if rank is not None:
                del left[rank]

    def _reasons(self, why: Reasons) -> dict[str, Json]:
        return {
            "patterns": [self._given(one) for one in why.given],
            "for": [_written_weight(one) for one in why.pros],
            "against": [_written_weight(one) for one in why.cons],
            "arguments": [self._drawn(one) for one in why.argued],
            "repeats": None if why.earlier is None else self._event(self._number(why.earlier, answer=False)),
        }

    def _given(self, one: Given) -> dict[str, Json]:
        return {
            "id": one.pattern.id,
            "groups": one.pattern.groups,
            "rank": one.rank + 1,
            "context": one.context,
            "context_in_words": context_in_words(one.context),
            "believed": one.pattern.believed,
            **_counted(one),
            "arguments": [self._drawn(drawn) for drawn in one.arguments],
        }

    def _drawn(self, one: Drawn) -> dict[str, Json]:
        return {
            "name": one.name,
            "value": one.value,
            "mapper": one.mapper,
            "in_words": mapper_in_words(one.mapper, alone=one.alone),
            "events": [self._event(self._number(read.seen, answer=read.answer)) for read in one.read],
        }

    def _number(self, seen: Observation, *, answer: bool) -> int:
        """The number of the event that an observation, or its answer, is of."""
        known: list[tuple[Observation, int]] = [*self._began, *(self._answered if answer else ())]
        return next(index for one, index in reversed(known) if one is seen)

    def _event(self, index: int) -> dict[str, Json]:
        return {"event": index, "what": _said(self._events[index])}


def written(call: Invocation) -> dict[str, Json]:
    """An invocation as JSON."""
    return {"tool": call.tool, "arguments": call.arguments}


def written_candidate(one: Candidate) -> dict[str, Json]:
    """A candidate as JSON."""
    next_ = None if one.later is None else round(one.confidence - one.later, 4)
    return {
        **written(one.invocation),
        "confidence": round(one.confidence, 4),
        "next": next_,
        "source": one.source,
        "expected_s": one.expected_s,
    }


def _written_weight(one: Weight) -> dict[str, Json]:
    return {
        "trait": one.trait,
        "in_words": trait_in_words(one.trait),
        "adds": round(one.adds, 3),
        "value": round(one.value, 3),
        "weight": round(one.weight, 3),
    }


def _counted(one: Given) -> dict[str, Json]:
    """What became of it; of what its author believes nothing was counted."""
    if one.pattern.believed is not None:
        return {"seen": None, "next": None, "ever": None}
    return {"seen": one.count.seen, "next": one.count.next, "ever": one.count.ever}


def _said(event: Event) -> str:
    """What happened, in a few words."""
    match event:
        case UserMessage(text=text):
            return f"the user said {shortened(text)}"
        case LlmTurn(text=text):
            return f"the model said {shortened(text)}"
        case ToolCall(invocation=call):
            return f"{call.tool} was asked for with {shortened(call.arguments)}"
        case ToolOutput(tool=tool, output=output):
            return f"{tool} answered {shortened(output)}"
    return type(event).__name__
