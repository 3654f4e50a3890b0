"""A Gemini function call whose arguments are streamed: values, or pieces of strings, each with its JSON path."""

import re
from collections.abc import Iterable
from itertools import pairwise

from paste_proxy.events.values import Json
from paste_proxy.wire.call_part import CallPart
from paste_proxy.wire.gemini_fields import field_of
from paste_proxy.wire.loose import mapping, mended, string
from paste_proxy.wire.types import SeenPart

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]]+)|\[(?P<index>\d+)\]|\['(?P<single>(?:[^'\\]|\\.)*)'\]|\["(?P<double>(?:[^"\\]|\\.)*)"\]""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LONGEST_PATH = 64
_MOST_PATHS = 64
"""A call of more is looked at when it is whole."""

_Step = str | int


class PartialCall:
    """One call being put together; raises nothing.

    Args:
        given_id: its id on the wire, empty where it has none.
        opened_with: arguments that came whole, before the pieces.
    """

    def __init__(self, given_id: str, name: str, opened_with: Json) -> None:
        self.given_id, self.name = given_id, name
        self._opened_with = opened_with
        self._given: list[tuple[str, list[Json]]] = []
        """Paths in their order, each with what came for it in a row."""
        self._so_far = CallPart()
        self._looked_at = -1
        """Paths when a part was asked for last."""

    def take(self, entries: Iterable[Json]) -> None:
        """Go on with the entries of a `partialArgs`."""
        for entry in entries:
            fields = mapping(entry)
            path = string(field_of(fields, "jsonPath"))
            if not self._given or self._given[-1][0] != path:
                self._given.append((path, []))
            self._given[-1][1].append(_value(fields))

    def part(self, order: int) -> SeenPart | None:
        """What more is known of the call before it is whole; the argument written last may still grow."""
        paths = len(self._given)
        if self._opened_with or paths == self._looked_at or paths > _MOST_PATHS:
            return None
        self._looked_at = paths
        arguments = self.arguments() or {}
        if steps := _steps(self._given[-1][0]) if self._given else None:
            arguments.pop(str(steps[0]), None)
        return self._so_far.of(order, self.name, arguments)

    def arguments(self) -> dict[str, Json] | None:
        """The arguments, None if some piece has no place."""
        if self._opened_with is not None and not isinstance(self._opened_with, dict):
            return None
        arguments = dict(self._opened_with or {})
        for path, values in self._given:
            steps = _steps(path)
            texts = [value for value in values if isinstance(value, str)]
            value = mended("".join(texts)) if len(texts) == len(values) else values[-1]
            if steps is None or not _put(arguments, steps, value):
                return None
        return arguments


def _value(fields: dict[str, Json]) -> Json:
    if isinstance(text := field_of(fields, "stringValue"), str):
        return text
    for name in ("numberValue", "boolValue"):
        if (value := field_of(fields, name)) is not None:
            return value
    return None


def _steps(path: str) -> list[_Step] | None:
    """The steps of a JSON path (RFC 9535) that names one place; None for any other."""
    steps: list[_Step] = []
    at = 1 if path.startswith("$") else len(path) + 1
    while at < len(path) and len(steps) < _LONGEST_PATH:
        step = _STEP.match(path, at)
        if step is None:
            return None
        quoted = step["single"] if step["single"] is not None else step["double"]
        if step["index"] is not None:
            steps.append(int(step["index"][:9]))
        else:
            steps.append(step["name"] or _ESCAPE.sub(r"\1", quoted or ""))
        at = step.end()
    return steps if steps and at == len(path) else None


def _put(arguments: dict[str, Json], path: list[_Step], value: Json) -> bool:
    """Set the value at its place, or add a piece to the string there; False where the path leads nowhere."""
    place: Json = arguments
    for step, following in pairwise(path):
        inner = _at(place, step)
        if inner is None:
            inner = [] if isinstance(following, int) else {}
            if not _set(place, step, inner):
                return False
        place = inner
    known = _at(place, path[-1])
    return _set(place, path[-1], known + value if isinstance(known, str) and isinstance(value, str) else value)


def _at(place: Json, step: _Step) -> Json:
    if isinstance(place, dict) and isinstance(step, str):
        return place.get(step)
    if isinstance(place, list) and isinstance(step, int) and step < len(place):
        return place[step]
    return None


def _set(place: Json, step: _Step, value: Json) -> bool:
    match place, step:
        case dict(), str():
            place[step] = value
        case list(), int() if step <= len(place):
            place[step : step + 1] = [value]
        case _:
            return False
    return True
