"""The memory of a place as JSON, so that it outlives the sidecar.

next, ever  {TRAIT: [correction, sum of squared slopes]}
habits      [{"tool", "arguments", "times", "sessions", "after": {OUTCOME: times}}]
"""

from collections.abc import Callable, Iterator

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, canonical_text, loads
from paste_proxy.mining.forecast.adaptation import Place
from paste_proxy.mining.forecast.habits import Habits, Usual
from paste_proxy.mining.forecast.lessons import Lesson, Lessons
from paste_proxy.mining.notation import table

FORMAT = "paste-proxy memory"
VERSION = 1
_MOST = 10_000
"""Of anything in a file; what is written stays far below."""
_LARGEST = 1e9


def text_of(place: Place, saved: float, harmless: Callable[[Invocation], bool]) -> str:
    """The JSON text of a place, with the habits whose invocations are harmless to keep.

    Args:
        saved: when, in seconds since 1970.
    """
    habits: list[Json] = [_written_habit(one) for one in place.habits.written() if harmless(one.invocation)]
    written: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "saved": round(saved),
        "moments": place.moments,
        "next": _written_lessons(place.next),
        "ever": _written_lessons(place.ever),
        "habits": habits,
    }
    return canonical_text(written).encode("utf-8", "backslashreplace").decode()


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
        found = f"format {top.get('format')!r:.40} and version {top.get('version')!r:.20}"
        raise InputFault(where, found, f"{FORMAT!r} and {VERSION}")
    place = Place(
        _read_lessons(top, "next", where, rate),
        _read_lessons(top, "ever", where, rate),
        Habits.of(_read_habits(top.get("habits"), f"{where}: habits")),
        round(_number(top.get("moments"), f"{where}: moments", 0)),
    )
    return place, _number(top.get("saved"), f"{where}: saved", 0, 1e12)


def _written_lessons(lessons: Lessons) -> dict[str, Json]:
    return {trait: [round(one.weight, 4), round(one.slopes, 4)] for trait, one in lessons.of.items()}


def _written_habit(one: Usual) -> Json:
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
                lessons.of[trait] = Lesson(_number(weight, at, -_LARGEST), _number(slopes, at, 0))
            case _:
                raise InputFault(f"{where}: {key}[{trait!r}]", f"{raw!r:.60}", "[correction, sum of squared slopes]")
    return lessons


def _read_habits(raw: Json, where: str) -> Iterator[Usual]:
    if not isinstance(raw, list) or len(raw) > _MOST:
        raise InputFault(where, f"{raw!r:.60}", f"a list of at most {_MOST}")
    for at, one in enumerate(raw):
        here = f"{where}[{at}]"
        written = table(one, here)
        tool = written.get("tool")
        if not isinstance(tool, str):
            raise InputFault(f"{here}.tool", f"{tool!r:.60}", "a text")
        after = _few(table(written.get("after"), f"{here}.after"), f"{here}.after")
        yield Usual(
            Invocation(tool, table(written.get("arguments"), f"{here}.arguments")),
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
        raise InputFault(where, f"{raw!r:.60}", f"a number from {least:g} to {largest:g}")
    return float(raw)
