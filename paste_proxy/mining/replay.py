"""Recorded sessions seen again as they were lived: what was known at each moment, and what came next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.moments import Moment, Turn, moments_of, turns_of
from paste_proxy.mining.window import Window

HORIZON = 8
"""Turns within which a predicted call must be asked for to count as ever asked."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A session at one of its moments."""

    window: Window
    next: frozenset[str]
    """Keys of the next turn's calls."""
    ever: frozenset[str]
    calls: tuple[Invocation, ...] = ()
    """The next turn's calls, at the last moment before it; else empty."""


def replay(session: Recorded) -> Iterator[Replayed]:
    """The session, moment by moment; the window is one object that moves on."""
    window = Window()
    turns = turns_of(session.events)
    moments = {moment.index: moment for moment in moments_of(session.events, turns)}
    last_before = {moment.turn: moment.index for moment in moments.values()}
    for index, event in enumerate(session.events):
        window.step(event)
        moment = moments.get(index)
        if moment is not None:
            yield _at(window, moment, turns, last_before)


def _at(window: Window, moment: Moment, turns: Sequence[Turn], last_before: dict[int, int]) -> Replayed:
    coming = turns[moment.turn : moment.turn + HORIZON]
    following = coming[0].calls if coming else []
    return Replayed(
        window,
        frozenset(call.key for call in following),
        frozenset(call.key for turn in coming for call in turn.calls),
        tuple(following) if last_before[moment.turn] == moment.index else (),
    )
