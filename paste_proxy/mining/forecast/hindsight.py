"""Follows one session and teaches what its moments show, once it is known what came.

Of the moments before a turn only the last one counts: it is the one that knew most. Turns are told apart as in
`moments`; a turn that was cut off teaches nothing.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, LlmTurn, ToolCall
from paste_proxy.mining.contexts import outcome
from paste_proxy.mining.forecast.adaptation import Adaptation
from paste_proxy.mining.forecast.habits import Habit
from paste_proxy.mining.forecast.model import Model, Weighed
from paste_proxy.mining.odds import Odds
from paste_proxy.mining.replay import HORIZON
from paste_proxy.mining.window import Window

_OFFERED = 8
_TURNS_KNOWN = 32
_KEYS_KNOWN = 2_048
"""Of one session; what it asks for first after so many counts as none of its own, and is no habit of one session more.
"""


@dataclass(slots=True)
class Judged:
    """What was foreseen at a moment."""

    models: list[tuple[Model, list[Weighed]]] = field(default_factory=list)
    patterns: list[tuple[str, str, Odds]] = field(default_factory=list)
    """Pattern, key of what it gave, odds."""
    turn: int = 0
    next: set[str] = field(default_factory=set)
    ever: set[str] = field(default_factory=set)
    resolved: bool = False
    """The next turn is over."""


class Hindsight:
    """Bounded: the moments before the last `HORIZON` turns."""

    def __init__(self, adaptation: Adaptation) -> None:
        self._adaptation = adaptation
        self._latest: Judged | None = None
        self._pending: deque[Judged] = deque()
        self._turn = -1
        self._numbered: dict[int, int] = {}
        self._open = False
        self._own: set[str] = set()
        self._after = "^"

    def habits(self, window: Window) -> Sequence[Habit]:
        """What is usual now, where the session is."""
        return self._adaptation.usual(outcome(window.context()[-1]), self._own)

    def judge(self, window: Window, judged: Judged) -> None:
        """A moment, and what was foreseen; to be judged later."""
        self._latest = judged
        self._after = outcome(window.context()[-1])

    def see(self, event: Event, *, past: bool = False) -> None:
        """What happened; in the `past`, which others may have been shown before: that leaves no habits."""
        match event:
            case LlmTurn(complete=False):
                self._latest = None
                self._open = False
            case LlmTurn():
                self._in_turn(event.turn)
            case ToolCall():
                self._asked(event.invocation, self._in_turn(event.turn), past)
            case _:
                self._open = False

    def end(self) -> None:
        """The session is over: nothing else will come."""
        self._latest = None
        self._resolve(self._turn + HORIZON + 1)

    def _in_turn(self, number: int | None) -> int:
        """The turn of what happened; a new one closes those before it."""
        known = self._numbered.get(number) if number is not None else self._turn if self._open else None
        self._open = True
        if known is not None:
            return known
        self._turn += 1
        if number is not None:
            self._numbered[number] = self._turn
            if len(self._numbered) > _TURNS_KNOWN:
                del self._numbered[next(iter(self._numbered))]
        self._resolve(self._turn)
        if self._latest is not None:
            self._latest.turn = self._turn
            self._pending.append(self._latest)
            self._latest = None
        return self._turn

    def _asked(self, invocation: Invocation, turn: int, past: bool) -> None:
        key = invocation.key
        for judged in self._pending:
            if judged.turn <= turn < judged.turn + HORIZON:
                judged.ever.add(key)
                if turn == judged.turn:
                    judged.next.add(key)
        first = key not in self._own and len(self._own) < _KEYS_KNOWN
        if first:
            self._own.add(key)
        if not past:
            self._adaptation.note(invocation, self._after, first=first)

    def _resolve(self, turn: int) -> None:
        """Turn number `turn` begins."""
        for judged in self._pending:
            if not judged.resolved:
                judged.resolved = True
                for at, (model, moment) in enumerate(judged.models):
                    self._adaptation.learn_next(moment, judged.next)
                    judged.models[at] = model, moment[:_OFFERED]
        while self._pending and self._pending[0].turn + HORIZON <= turn:
            judged = self._pending.popleft()
            for model, moment in judged.models:
                self._adaptation.learn_ever(model, moment, judged.ever)
            for pattern, key, odds in judged.patterns:
                self._adaptation.learn_pattern(pattern, odds, (key in judged.next, key in judged.ever))
