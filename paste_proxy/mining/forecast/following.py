"""The next item of the list that a session works through: after the second page of a search was fetched, the third.

Looked for in the answers that came just before the latest call. A value of the call that stands there among
others of its kind is replaced by those that come after it and have not been asked for.
"""

from collections.abc import Iterator
from itertools import islice

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.recall import recall
from paste_proxy.mining.invoked import invoked
from paste_proxy.mining.material import FILE, Material
from paste_proxy.mining.window import CALL, Observation, Window

_ANSWERS, _OTHERS = 4, 2
_MOST = 3
_ARGUMENTS = 16
_LOOKED_AT = 16
"""Items after the latest that may have been asked for already."""
_TAKES = ("url", "path", FILE)
_SHORTEST = 2


def following(window: Window) -> list[Invocation]:
    """The calls that go on with the list, the next item first; at most 3."""
    calls = [seen for seen in reversed(window.observations) if seen.kind == CALL]
    latest = next((seen for seen in calls if seen.invocation is not None), None)
    if latest is None or latest.invocation is None:
        return []
    asked = window.asked()
    found: dict[str, Invocation] = {}
    for name, value in islice(latest.invocation.arguments.items(), _ARGUMENTS):
        if isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) >= _SHORTEST:
            items = islice(_after(value, _answers(calls, latest)), _LOOKED_AT)
            following = (invoked(latest.tool, {**latest.invocation.arguments, name: item}) for item in items)
            unused = islice((one for one in following if one.key not in asked), _MOST)
            found |= {one.key: one for one in unused if one.key not in found}
        if len(found) >= _MOST:
            break
    return list(found.values())[:_MOST]


def look_ahead(window: Window) -> None:
    """While a call runs, find in earlier answers what `following` and `recall` ask for when its own is there."""
    recall(window)
    following(window)


def _answers(calls: list[Observation], latest: Observation) -> Iterator[Material]:
    """Answers to calls before the latest, the last first; then, since the answers to a list's own items may be the last
    ones, those of other tools."""
    earlier = [seen for seen in calls if seen is not latest and seen.said is not None and seen.ok]
    others = (seen for seen in earlier[_ANSWERS:] if seen.tool != latest.tool)
    for seen in (*earlier[:_ANSWERS], *islice(others, _OTHERS)):
        if seen.said is not None:
            yield seen.said


def _after(value: str | int, answers: Iterator[Material]) -> Iterator[Json]:
    for answer in answers:
        items = _list_with(value, answer)
        if items:
            yield from items[items.index(value) + 1 :]
            return


def _list_with(value: str | int, answer: Material) -> list[Json]:
    """The values among which one stands in an answer; empty where it does not."""
    listed = answer.list_with(value)
    if listed:
        return [found.value for found in listed]
    if isinstance(value, str) and value.rpartition("/")[2] in answer.text():
        for take in _TAKES:
            items = [found.value for found in answer.take(take)]
            if value in items:
                return items
    return []
