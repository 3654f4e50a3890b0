"""What a session did before, as a forecast for itself: its repeats, and what followed the last call the last time."""

from collections import Counter
from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.window import CALL, Observation, Window


@dataclass(slots=True)
class Recall:
    """The session's own invocations."""

    invocations: dict[str, Invocation]
    """By key."""
    age: dict[str, int]
    """Calls since it was last asked for."""
    nth: dict[str, int]
    """Among the distinct invocations of its tool, the latest first, from 0."""
    times: Counter[str]
    followed: Counter[str]
    """How often it followed the last call's key."""
    failed: frozenset[str]
    """Keys whose last answer was a failure."""
    touched: dict[object, tuple[str, int]]
    """By a text argument: the tool of the last call that had it, and how many calls ago that was."""


def recall(window: Window) -> Recall:
    """Look back over the window; once for all moments between which no call was made, nor one failed."""
    kept = window.lasting.get(recall)
    if kept is None or kept[1] != window.called:
        kept = window.lasting[recall] = recall, window.called, _recall(window)
    past: Recall = kept[2]
    return past


def _recall(window: Window) -> Recall:
    calls: list[Observation] = [seen for seen in window.observations if seen.kind == CALL and seen.invocation]
    invocations: dict[str, Invocation] = {}
    age: dict[str, int] = {}
    times: Counter[str] = Counter()
    followed: Counter[str] = Counter()
    failed: set[str] = set()
    touched: dict[object, tuple[str, int]] = {}
    last = calls[-1].invocation.key if calls and calls[-1].invocation else ""
    before = ""
    for at, seen in enumerate(calls):
        invocation = seen.invocation
        if invocation is None:
            continue
        key = invocation.key
        invocations[key] = invocation
        distance = len(calls) - 1 - at
        age[key] = distance
        times[key] += 1
        (failed.discard if seen.ok else failed.add)(key)
        if before == last:
            followed[key] += 1
        before = key
        for value in invocation.arguments.values():
            if isinstance(value, str) and len(value) > 2:
                touched[value] = (seen.tool, distance)
    of_tool: Counter[str] = Counter()
    nth: dict[str, int] = {}
    for key in sorted(age, key=lambda key: age[key]):
        tool = invocations[key].tool
        nth[key] = of_tool[tool]
        of_tool[tool] += 1
    return Recall(invocations, age, nth, times, followed, frozenset(failed), touched)
