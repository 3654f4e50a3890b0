"""The memory of a place as JSON, so that it outlives the sidecar.

next, ever  {TRAIT: [correction, sum of squared slopes]}
habits      [{"tool", "arguments", "times", "sessions", "after": {OUTCOME: times}}]
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import nlargest

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, brief, canonical_text, loads
from paste_proxy.mining.forecast.adaptation import Place
from paste_proxy.mining.forecast.habits import Habits, Usual
from paste_proxy.mining.forecast.lessons import MOST, Lesson, Lessons, clamped
from paste_proxy.mining.notation import read_json, readable, table

FORMAT = "paste-proxy memory"
VERSION = 1
LARGEST = 8 * 2**20
"""Bytes of a text; what would not go into it is left out, that which counts least first."""
_ROOM_OF_LESSONS, _ROOM_OF_HABITS = 2 * 2**20, 3 * 2**20
"""Bytes of the lessons of one kind, and of all habits."""
_MOST = 10_000
"""Of anything in a file; what is written stays far below."""
_LARGEST = 1e9
_LEAST = 1e-3
"""Less than this is what rounding and time leave."""
_MOST_HABITS = 1_000


def text_of(place: Place, saved: float, harmless: Callable[[Invocation], bool]) -> str:
    """The JSON text of a place, with the habits whose invocations are harmless to keep; at most `LARGEST` bytes.

    Args:
        saved: when, in seconds since 1970.
    """
    written: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "saved": round(saved),
        "moments": place.moments,
        "next": _written_lessons(place.next),
        "ever": _written_lessons(place.ever),
        "habits": _written_habits(place.habits, harmless),
    }
    return _utf8(written).decode()


def load_place(text: str, where: str, rate: float) -> tuple[Place, float]:
    """The place of a JSON text, and when it was saved in seconds since 1970.

    Raises:
        InputFault: naming the key that is wrong, what stands there and what was expected.
    """
    try:
        raw = loads(text)
    except ValueError as fault:
        raise InputFault(where, f"is not JSON ({fault})", "a memory that the sidecar wrote") from fault
    top = table(raw, where)
    if top.get("format") != FORMAT or top.get("version") != VERSION:
        found = f"format {brief(top.get('format'), 40)} and version {brief(top.get('version'), 20)}"
        raise InputFault(where, found, f"{FORMAT!r} and {VERSION}")
    place = Place(
        _read_lessons(top, "next", where, rate),
        _read_lessons(top, "ever", where, rate),
        Habits.of(_read_habits(top.get("habits"), f"{where}: habits")),
        round(_number(top.get("moments"), f"{where}: moments", 0)),
    )
    return place, _number(top.get("saved"), f"{where}: saved", 0, 1e12)


def merged(kept: Place, place: Place, before: Place) -> Place:
    """What is kept of a place, with what another sidecar may have added, and what one has learned since.

    Counts add up. A correction that goes the same way as the other's is learned once: the larger counts.

    Args:
        kept: as read back now.
        place: as one knows it.
        before: the same when it was last read or kept.
    """
    return Place(
        _merged_lessons(kept.next, place.next, before.next),
        _merged_lessons(kept.ever, place.ever, before.ever),
        Habits.of(_merged_habits(kept.habits, place.habits, before.habits)),
        kept.moments + max(0, place.moments - before.moments),
    )


def _merged_lessons(kept: Lessons, own: Lessons, before: Lessons) -> Lessons:
    found = Lessons(own.rate)
    nothing = Lesson()
    for trait in kept.of.keys() | own.of.keys():
        theirs, ours, base = (lessons.of.get(trait, nothing) for lessons in (kept, own, before))
        one, other = theirs.weight - base.weight, ours.weight - base.weight
        change = max(one, other, key=abs) if one * other > 0 else one + other
        slopes = max(0.0, theirs.slopes + ours.slopes - base.slopes)
        if trait in own.of or abs(one) >= _LEAST:  # what was dropped here stays dropped, unless another learned more
            found.of[trait] = Lesson(base.weight + change, slopes)
    for trait in sorted(found.of, key=lambda trait: abs(found.of[trait].weight))[: max(0, len(found.of) - MOST)]:
        del found.of[trait]
    return found


def _merged_habits(kept: Habits, own: Habits, before: Habits) -> Iterable[Usual]:
    theirs, ours, base = ({one.invocation.key: one for one in habits.written()} for habits in (kept, own, before))
    added = (_added(*(of.get(key) for of in (theirs, ours, base))) for key in theirs.keys() | ours.keys())
    known = (one for one in added if one.times >= _LEAST)
    return nlargest(_MOST_HABITS, known, key=lambda one: (one.times, one.invocation.key))


def _added(theirs: Usual | None, ours: Usual | None, before: Usual | None) -> Usual:
    known = theirs or ours
    assert known is not None
    each = [one or Usual(known.invocation, 0.0, 0.0, {}) for one in (theirs, ours, before)]
    after = {
        outcome: _sum(*(one.after.get(outcome, 0.0) for one in each))
        for outcome in each[0].after.keys() | each[1].after.keys()
    }
    return Usual(
        known.invocation,
        _sum(*(one.times for one in each)),
        _sum(*(one.sessions for one in each)),
        {outcome: times for outcome, times in after.items() if times >= _LEAST},
    )


def _sum(theirs: float, ours: float, before: float) -> float:
    return max(0.0, theirs + ours - before)


def _written_lessons(lessons: Lessons) -> Json:
    largest_first = sorted(lessons.of.items(), key=lambda one: -abs(one[1].weight))
    written: Iterable[dict[str, Json]] = (
        {trait: [round(one.weight, 4), round(one.slopes, 4)]} for trait, one in largest_first
    )
    return {trait: lesson for one in _fitting(written, _ROOM_OF_LESSONS) for trait, lesson in one.items()}


def _written_habits(habits: Habits, harmless: Callable[[Invocation], bool]) -> Json:
    usual_first = sorted(habits.written(), key=lambda one: -one.times)
    return [*_fitting((_written_habit(one) for one in usual_first if _kept(one, harmless)), _ROOM_OF_HABITS)]


def _fitting(entries: Iterable[dict[str, Json]], room: int) -> Iterator[dict[str, Json]]:
    """Those that find room, in bytes, where the earlier ones go first."""
    for entry in entries:
        size = len(_utf8(entry)) + 1
        if size <= room:
            room -= size
            yield entry


def _utf8(value: Json) -> bytes:
    return canonical_text(value).encode("utf-8", "backslashreplace")


def _kept(one: Usual, harmless: Callable[[Invocation], bool]) -> bool:
    return readable(one.invocation.arguments) and harmless(one.invocation)


def _written_habit(one: Usual) -> dict[str, Json]:
    return {
        "tool": one.invocation.tool,
        "arguments": one.invocation.arguments,
        "times": round(one.times, 3),
        "sessions": round(one.sessions, 3),
        "after": {outcome: round(times, 3) for outcome, times in one.after.items()},
    }


def _read_lessons(top: dict[str, Json], key: str, where: str, rate: float) -> Lessons:
    lessons = Lessons(rate)
    for trait, raw in _few(table(top.get(key), f"{where}: {key}"), f"{where}: {key}").items():
        match raw:
            case [weight, slopes]:
                at = f"{where}: {key}[{trait!r}]"
                lessons.of[trait] = Lesson(clamped(_number(weight, at, -_LARGEST)), _number(slopes, at, 0))
            case _:
                raise InputFault(f"{where}: {key}[{trait!r}]", brief(raw), "[correction, sum of squared slopes]")
    return lessons


def _read_habits(raw: Json, where: str) -> Iterator[Usual]:
    if not isinstance(raw, list) or len(raw) > _MOST:
        raise InputFault(where, brief(raw), f"a list of at most {_MOST}")
    for at, one in enumerate(raw):
        here = f"{where}[{at}]"
        written = table(one, here)
        tool = written.get("tool")
        if not isinstance(tool, str):
            raise InputFault(f"{here}.tool", brief(tool), "a text")
        after = _few(table(written.get("after"), f"{here}.after"), f"{here}.after")
        yield Usual(
            Invocation(tool, table(read_json(written.get("arguments"), f"{here}.arguments"), f"{here}.arguments")),
            _number(written.get("times"), f"{here}.times", 0),
            _number(written.get("sessions"), f"{here}.sessions", 0),
            {outcome: _number(times, f"{here}.after", 0) for outcome, times in after.items()},
        )


def _few(written: dict[str, Json], where: str) -> dict[str, Json]:
    if len(written) > _MOST:
        raise InputFault(where, f"{len(written)} entries", f"at most {_MOST}")
    return written


def _number(raw: Json, where: str, least: float, largest: float = _LARGEST) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not least <= raw <= largest:
        raise InputFault(where, brief(raw), f"a number from {least:g} to {largest:g}")
    return float(raw)
