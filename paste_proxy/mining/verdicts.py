"""A recorded session followed by a predictor: what became of every candidate, and what every call had coming.

A call is judged by the last prediction made before the LLM turn that asked for it began. Calls of one parallel
turn share that prediction; what one of them took from it is struck from the list for the next.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.cored import Core, cored
from paste_proxy.events.durations import credible
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, ToolCall, ToolOutput
from paste_proxy.mining.explain import derivable
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.moments import moments_of, turns_of
from paste_proxy.mining.prediction import Prediction
from paste_proxy.mining.replay import HORIZON
from paste_proxy.mining.window import Window

Predict = Callable[[Event], Prediction]


@dataclass(frozen=True, slots=True)
class Offer:
    """A candidate, once for every moment at which it was one."""

    candidate: Candidate
    came: bool
    """It was asked for within `HORIZON` turns."""
    launched: bool
    """An ideal executor would have run it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A call and what had been predicted of it."""

    call: Invocation
    """Its core."""
    rank: int | None
    """Among the candidates left to it, from 0; None if it was none of them."""
    ahead: int | None
    """The same among the candidates that may be run ahead."""
    strict: int | None
    """The same by what was asked, not by its core."""
    repeated: bool
    """An earlier turn of the session asked for the same."""
    hit: bool
    """A run of it was waiting."""
    offered: bool
    """It was a candidate at some moment of the last `HORIZON` turns, however unlikely."""
    derivable: bool
    """See `infer.derivable`."""
    seconds: float | None
    """Recorded time of the tool."""


@dataclass(slots=True)
class _Ahead:
    """Runs ahead, each waiting `HORIZON` turns for its call."""

    waiting: dict[str, int] = field(default_factory=dict)
    """Turns before which they were started, by key."""

    def start(self, key: str, turn: int) -> bool:
        """Start one unless one is waiting."""
        began = self.waiting.get(key)
        if began is not None and turn - began < HORIZON:
            return False
        self.waiting[key] = turn
        return True

    def take(self, key: str, turn: int) -> bool:
        """Whether one was waiting for this call, which uses it up."""
        began = self.waiting.pop(key, None)
        return began is not None and turn - began < HORIZON


def follow(
    session: Recorded, predict: Predict, ahead: Predict | None, core: Core, runs: Callable[[Candidate], bool]
) -> Iterator[Offer | Verdict]:
    """Follow a session from its first event to its last.

    Args:
        predict: the `step` of a fresh predictor.
        ahead: that of one which predicts only what may be run ahead, as in the sidecar; None: `predict` does.
        core: what is shown to it and compared.
        runs: whether a candidate would be run ahead unless a run of it is waiting.
    """
    return _Follower(session, core, runs).follow(predict, ahead)


class _Follower:
    def __init__(self, session: Recorded, core: Core, runs: Callable[[Candidate], bool]) -> None:
        self._core, self._runs = core, runs
        self._events = [cored(event, core) for event in session.events]
        self._turns = turns_of(self._events)
        self._seconds = _durations(self._events)
        self._asked_key = _keys(session.events, self._events)
        self._run, self._offered = _Ahead(), _Ahead()
        self._asked: set[str] = set()
        self._window = Window()

    def follow(self, predict: Predict, ahead: Predict | None) -> Iterator[Offer | Verdict]:
        starts = {turn.start: number for number, turn in enumerate(self._turns)}
        moments = {moment.index: moment.turn for moment in moments_of(self._events, self._turns)}
        every: list[Candidate] = []
        some: list[Candidate] = []
        for index, event in enumerate(self._events):
            if index in starts:
                yield from self._judged(starts[index], every, some)
                every, some = [], []
            self._window.step(event)
            predicted = predict(event).candidates
            runnable = predicted if ahead is None else ahead(event).candidates
            if index in moments:
                every, some = self._cores(predicted), self._cores(runnable)
                yield from self._offers(some, moments[index])

    def _cores(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The candidates as they would be run, those that come to the same only once."""
        found: dict[str, Candidate] = {}
        for candidate in candidates:
            core = self._core(candidate.invocation)
            found.setdefault(core.key, replace(candidate, invocation=core))
        return list(found.values())

    def _offers(self, candidates: Iterable[Candidate], turn: int) -> Iterator[Offer]:
        coming = {call.key for one in self._turns[turn : turn + HORIZON] for call in one.calls}
        for candidate in candidates:
            key = candidate.invocation.key
            self._offered.start(key, turn)
            yield Offer(candidate, key in coming, self._runs(candidate) and self._run.start(key, turn))

    def _judged(self, number: int, every: Sequence[Candidate], some: Sequence[Candidate]) -> Iterator[Verdict]:
        turn = self._turns[number]
        left, left_ahead = ([candidate.invocation.key for candidate in of] for of in (every, some))
        for call in turn.calls:
            strict = _place(self._asked_key[id(call)], left)
            yield Verdict(
                call=call,
                rank=_struck(call.key, left),
                ahead=_struck(call.key, left_ahead),
                strict=strict,
                repeated=call.key in self._asked,
                hit=self._run.take(call.key, number),
                offered=self._offered.take(call.key, number),
                derivable=derivable(call, self._window),
                seconds=self._seconds.get(id(call)),
            )
        self._asked.update(call.key for call in turn.calls)


def _place(key: str, keys: list[str]) -> int | None:
    return keys.index(key) if key in keys else None


def _struck(key: str, keys: list[str]) -> int | None:
    """Where a key stands; it is taken away."""
    place = _place(key, keys)
    if place is not None:
        del keys[place]
    return place


def _keys(asked: Sequence[Event], cores: Sequence[Event]) -> dict[int, str]:
    """The canonical key of what was asked, by the identity of its core's object."""
    pairs = zip(asked, cores, strict=True)
    return {
        id(core.invocation): event.invocation.key
        for event, core in pairs
        if isinstance(event, ToolCall) and isinstance(core, ToolCall)
    }


def _durations(events: Sequence[Event]) -> dict[int, float]:
    """Recorded seconds by the identity of the invocation object."""
    calls: dict[str, Invocation] = {}
    seconds: dict[int, float] = {}
    for event in events:
        if isinstance(event, ToolCall):
            calls[event.call_id] = event.invocation
        elif isinstance(event, ToolOutput) and event.call_id in calls:
            took = credible(event.duration_s)
            if took is not None:
                seconds[id(calls[event.call_id])] = took
    return seconds
