"""The moments of a recorded session at which its next calls could have been predicted, and what came.

A prediction counts only if it was made before the LLM turn that asked for the call began: whatever that
turn says is not known yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage


@dataclass(slots=True)
class Turn:
    """An LLM turn of a recording: where it begins and what it asked for."""

    start: int
    calls: list[Invocation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Moment:
    """After the event at `index`, the session's next turn is turn number `turn`."""

    index: int
    turn: int


def turns_of(events: Sequence[Event]) -> list[Turn]:
    """The turns of a session, in order. Calls that name no turn belong to the one that is open."""
    turns: list[Turn] = []
    numbered: dict[int, Turn] = {}
    is_open = False
    for index, event in enumerate(events):
        if not isinstance(event, LlmTurn | ToolCall):
            is_open = False
            continue
        turn = numbered.get(event.turn) if event.turn is not None else turns[-1] if is_open else None
        if turn is None:
            turn = Turn(index)
            turns.append(turn)
            if event.turn is not None:
                numbered[event.turn] = turn
        if isinstance(event, ToolCall):
            turn.calls.append(event.invocation)
        is_open = True
    return turns


def moments_of(events: Sequence[Event], turns: Sequence[Turn]) -> list[Moment]:
    """The moments of a session: its user messages, its tool outputs, and its turns that call nothing."""
    silent = {turn.start for turn in turns if not turn.calls}
    moments: list[Moment] = []
    following = 0
    for index, event in enumerate(events):
        while following < len(turns) and turns[following].start <= index:
            following += 1
        if isinstance(event, UserMessage | ToolOutput) or index in silent:
            moments.append(Moment(index, following))
    return moments
