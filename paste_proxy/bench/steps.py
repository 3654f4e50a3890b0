"""The steps of recorded sessions, as the paper's model of speculation counts them: a generation, then a tool.

Seconds that were recorded count as they were; where a turn has none, the time between its events does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from paste_proxy.events.durations import credible
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import (
    Event,
    LlmTurn,
    Outcome,
    Speculation,
    ToolCall,
    ToolOutput,
    TurnStarted,
    UserMessage,
)
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.moments import Turn, moments_of, turns_of
from paste_proxy.mining.prediction import Prediction

_COMMITTED = (Outcome.REUSED, Outcome.PROMOTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """A turn that asked for tools."""

    generation_s: float | None
    tool_s: float | None
    rank: int | None = None
    """Which of the predictor's candidates was the first that the turn asked for, from 1; None: none of them."""


def steps_of(session: Recorded, predict: Callable[[Event], Prediction] | None = None) -> Iterator[RecordedStep]:
    """The steps of a session, in order.

    Args:
        predict: the `step` of a fresh predictor; its candidates just before each turn are compared.
    """
    events, turns = session.events, turns_of(session.events)
    ranks = _ranks(events, turns, predict) if predict is not None else {}
    for number, turn in enumerate(turns):
        if turn.calls:
            end = turns[number + 1].start if number + 1 < len(turns) else len(events)
            yield replace(_step(events, turn, end), rank=ranks.get(number))


def served(sessions: Sequence[Recorded]) -> float | None:
    """The share of recorded calls that a sidecar answered, or would have, from a call run ahead; None if none tried."""
    calls = hits = tried = 0
    for session in sessions:
        for event in session.events:
            calls += isinstance(event, ToolCall)
            if isinstance(event, Speculation):
                tried += 1
                hits += event.outcome in _COMMITTED
    return min(1.0, hits / calls) if tried and calls else None


def _step(events: Sequence[Event], turn: Turn, end: int) -> RecordedStep:
    inside = events[turn.start : end]
    told = _taken(event.duration_s for event in inside if isinstance(event, LlmTurn))
    durations = _taken(event.duration_s for event in inside if isinstance(event, ToolOutput))
    asked = [event for event in inside if isinstance(event, ToolCall)]
    outputs = [event for event in inside if isinstance(event, ToolOutput)]
    return RecordedStep(
        generation_s=told[0] if told else _between(_before(events, turn.start), asked[0] if asked else None),
        tool_s=max(durations) if durations else _between(asked[0], outputs[-1]) if asked and outputs else None,
    )


def _taken(recorded: Iterable[float | None]) -> list[float]:
    return [seconds for seconds in map(credible, recorded) if seconds is not None]


def _before(events: Sequence[Event], start: int) -> Event | None:
    """What the turn's request brought: the last thing that was not the LLM's."""
    kinds = (UserMessage, ToolOutput, TurnStarted)
    return next((event for event in reversed(events[:start]) if isinstance(event, kinds)), None)


def _between(first: Event | None, last: Event | None) -> float | None:
    if first is None or last is None or first.ts is None or last.ts is None:
        return None
    return max(0.0, last.ts - first.ts)


def _ranks(events: Sequence[Event], turns: Sequence[Turn], predict: Callable[[Event], Prediction]) -> dict[int, int]:
    """By number of a turn, the rank of the first candidate that it asked for."""
    last_before = {moment.turn: moment.index for moment in moments_of(events, turns)}
    turn_at = {index: turn for turn, index in last_before.items() if turn < len(turns)}
    ranks = {}
    for index, event in enumerate(events):
        candidates = [candidate.invocation for candidate in predict(event).candidates]
        if index in turn_at and (rank := _rank(candidates, turns[turn_at[index]].calls)) is not None:
            ranks[turn_at[index]] = rank
    return ranks


def _rank(candidates: Sequence[Invocation], calls: Sequence[Invocation]) -> int | None:
    keys = {call.key for call in calls}
    return next((rank for rank, candidate in enumerate(candidates, 1) if candidate.key in keys), None)
