"""Numbers that go on: after pages 2 and 3 the fourth, after `item_07` `item_08`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from paste_proxy.events.values import Json
from paste_proxy.mining.mappers import NOTHING, Bound
from paste_proxy.mining.sources import Source
from paste_proxy.mining.window import Window

LARGEST_STEP = 1_000_000
"""What is further apart is no step."""
_LARGEST = 2**53
_LONGEST_TEXT = 1_000
_DIGITS = re.compile(r"\d+", re.ASCII)
_LONGEST_NUMBER = 15


@dataclass(frozen=True)
class Step:
    """The value that goes on from the latest one of a source."""

    source: Source
    take: str
    """See `Material`; of several values of one event the first."""
    by: int = 0
    """What is added; 0 for what the latest value has more than the one before."""

    @property
    def frame(self) -> str:
        """No text is set around it."""
        return ""

    def values(self, window: Window) -> list[Bound]:
        """The one value, or none where the source shows no step."""
        stamp = window.stamps.get((self.source.origin, self.source.tool))
        if stamp is None:
            return NOTHING
        kept = window.lasting.get(id(self))
        if kept is None or kept[0] is not self or kept[1] != stamp:
            kept = window.lasting[id(self)] = self, stamp, self._onward(window)
        values: list[Bound] = kept[2]
        return values

    def _onward(self, window: Window) -> list[Bound]:
        latest = list(islice(self._latest(window), 1 if self.by else 2))
        if not latest:
            return NOTHING
        value = stepped(latest[0], self.by) if self.by else onward(latest[-1], latest[0]) if len(latest) > 1 else None
        return NOTHING if value is None else [Bound(value, {})]

    def _latest(self, window: Window) -> Iterator[Json]:
        for material in replace(self.source, each=True).materials(window):
            taken = material.take(self.take)
            if taken:
                yield taken[0].value


def stepped(value: Json, by: int) -> Json:
    """A number, or the last number in a text, with so much more; None where there is none."""
    if not isinstance(value, str):
        return _added(value, by)
    parts = _parted(value)
    return None if len(parts) < 3 else _joined([*parts[:-2], _padded(parts[-2], by), parts[-1]])


def onward(earlier: Json, later: Json) -> Json:
    """What comes after two values of one kind that differ in a number; in a text each number goes on by its own step.

    None where they are the same, or differ in more than numbers.
    """
    if not isinstance(earlier, str) or not isinstance(later, str):
        by = _difference(earlier, later)
        return _added(later, by) if by else None
    before, after = _parted(earlier), _parted(later)
    if before == after or before[::2] != after[::2]:
        return None
    pairs = zip(before[1::2], after[1::2], strict=True)
    numbers = [_padded(last, int(last) - int(first)) for first, last in pairs]
    return _joined([part for pair in zip(after[::2], [*numbers, ""], strict=True) for part in pair])


def step_between(earlier: Json, later: Json) -> int:
    """What `stepped` adds to one value to give another, 0 where nothing does."""
    if isinstance(earlier, str) and isinstance(later, str):
        before, after = _parted(earlier), _parted(later)
        by = int(after[-2]) - int(before[-2]) if len(before) == len(after) > 1 else 0
    else:
        by = _difference(earlier, later)
    goes_on = 0 < abs(by) <= LARGEST_STEP and type(earlier) is type(later) and stepped(earlier, by) == later
    return by if goes_on else 0


def _added(value: Json, by: int) -> Json:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not abs(value) < _LARGEST
        or value != int(value)
    ):
        return None
    return value + by


def _difference(earlier: Json, later: Json) -> int:
    if type(earlier) is not type(later) or _added(earlier, 0) is None or not isinstance(later, int | float):
        return 0
    by = 0 if _added(later, 0) is None or not isinstance(earlier, int | float) else int(later) - int(earlier)
    return by if abs(by) <= LARGEST_STEP else 0


def _parted(text: str) -> list[str]:
    """What stands between the numbers of a text, and these, in turn; of one with numbers too long, the text."""
    if len(text) > _LONGEST_TEXT:
        return [text]
    numbers = _DIGITS.findall(text)
    if any(len(number) > _LONGEST_NUMBER for number in numbers):
        return [text]
    between = _DIGITS.split(text)
    return [part for pair in zip(between, [*numbers, ""], strict=True) for part in pair][:-1]


def _padded(number: str, by: int) -> str | None:
    """The number with so much more, as wide as it was where it began with a zero; None below zero."""
    after = int(number) + by
    if after < 0:
        return None
    return str(after).zfill(len(number)) if number[0] == "0" and len(number) > 1 else str(after)


def _joined(parts: list[str | None]) -> str | None:
    whole = [part for part in parts if part is not None]
    return "".join(whole) if len(whole) == len(parts) else None
