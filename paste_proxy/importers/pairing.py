"""Ties the events of a recorded session together: calls to turns, outputs to calls.

A turn is what the recording marks as one (`turn_id`). Without marks, an LLM turn and the calls right
after it are one, and so are calls that stand together with no LLM turn before them. Call ids may come
twice in a session; the later ones are made distinct, and outputs go to the oldest open call of their id.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput
from paste_proxy.importers.neutral_record import Step


def paired(steps: Iterable[Step]) -> Iterator[Event]:
    """The events of one session's steps, in order. Turns are counted from 0."""
    turns, calls = _Turns(), _Calls()
    for step in steps:
        if step.neutral:
            yield calls.tie(turns.tie(step))
        else:
            yield step.event


class _Turns:
    """Numbers the turns of a session."""

    def __init__(self) -> None:
        self._number = -1
        self._mark: str | None = None
        self._open = False

    def tie(self, step: Step) -> Event:
        match step.event:
            case LlmTurn() as event:
                self._enter(step.turn_id, unmarked_goes_on=False)
                return replace(event, turn=self._number)
            case ToolCall() as event:
                self._enter(step.turn_id, unmarked_goes_on=self._open)
                return replace(event, turn=self._number)
            case event:
                self._open = False
                return event

    def _enter(self, mark: str | None, *, unmarked_goes_on: bool) -> None:
        goes_on = mark == self._mark if mark else unmarked_goes_on
        if not goes_on:
            self._number += 1
            self._mark = mark
        self._open = True


class _Calls:
    """Gives every call of a session an id of its own."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)

    def tie(self, event: Event) -> Event:
        match event:
            case ToolCall(call_id=call_id):
                self._seen[call_id] += 1
                first = self._seen[call_id] == 1 and call_id
                own = call_id if first else f"{call_id}#{self._seen[call_id]}"
                self._waiting[call_id].append(own)
                return replace(event, call_id=own)
            case ToolOutput(call_id=call_id) if self._waiting[call_id]:
                return replace(event, call_id=self._waiting[call_id].popleft())
            case _:
                return event
