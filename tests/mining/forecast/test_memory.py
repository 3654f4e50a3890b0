"""The memory of a place: what is written is read back, and whatever else stands in its file is refused by name."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.adaptation import Place
from paste_proxy.mining.forecast.habits import Habits, Usual
from paste_proxy.mining.forecast.lessons import Lesson
from paste_proxy.mining.forecast.memory import LARGEST, load_place, merged, text_of

TEST = Invocation("shell", {"command": "npm test"})


def taught() -> Place:
    place = Place.fresh()
    place.next.step({"repeat": 0.5, "P:visit#1": -0.25})
    place.ever.step({"repeat": -0.5})
    place.habits.note(TEST, "ok edit", first=True)
    place.moments = 3
    return place


def written(place: Place) -> str:
    return text_of(place, 1_700_000_000, lambda _: True)


def test_what_was_written_is_read_back() -> None:
    place, saved = load_place(written(taught()), "here", 0.1)
    assert saved == 1_700_000_000
    assert written(place) == written(taught())


def test_only_harmless_habits_are_written() -> None:
    assert json.loads(text_of(taught(), 0, lambda call: call.tool != "shell"))["habits"] == []
    assert json.loads(written(taught().copy(habits=False)))["habits"] == []


def much(call: int) -> Usual:
    """Of an invocation: as much as is ever known of one, in the largest letters."""
    tool = f"tool{call} " + "\N{GRINNING FACE}" * 200
    after = {f"ok {at} {tool}": 1.0 for at in range(64)}
    return Usual(Invocation(tool, {"text": "\N{GRINNING FACE}" * 390 + str(call)}), 1.0 + call, 1.0, after)


def test_what_is_written_is_never_too_large_to_be_read_and_keeps_what_counts_most() -> None:
    place = taught()
    place.habits = Habits.of(map(much, range(1_000)))
    for lessons in (place.next, place.ever):
        lessons.of = {f"{at} " + "\ud83d" * 1_500: Lesson((at - 500) / 100, 1.0) for at in range(1_000)}
    text = written(place)
    assert LARGEST / 4 < len(text.encode()) <= LARGEST
    read, _ = load_place(text, "here", 0.1)
    known = [one.times for one in read.habits.written()]
    assert known == sorted(range(1_001 - len(known), 1_001), reverse=True)
    for lessons in (read.next, read.ever):
        assert min(abs(one.weight) for one in lessons.of.values()) > 0.5
        assert {5.0, -4.99} & {one.weight for one in lessons.of.values()}


def test_one_habit_too_large_to_be_kept_takes_no_other_with_it() -> None:
    place = taught()
    place.habits = Habits.of([Usual(Invocation("x" * LARGEST, {}), 9.0, 9.0, {}), *place.habits.written()])
    read, _ = load_place(written(place), "here", 0.1)
    assert [one.invocation for one in read.habits.written()] == [TEST]


def test_a_copy_does_not_change_as_the_place_learns_on() -> None:
    place = taught()
    taken = place.copy()
    assert written(taken) == written(place)
    place.next.step({"repeat": 0.5, "other": 1.0})
    place.habits.note(TEST, "ok edit", first=True)
    assert written(taken) == written(taught())


def without(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda top: top.pop(key)


def put(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda top: top.update({key: value})


DEEP = "a thousand lists, one in another"
HABIT = {"tool": "t", "arguments": {}, "times": 1, "sessions": 1, "after": {}}


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put("format", "patterns"), "here"),
        (put("version", 2), "here"),
        (without("moments"), "here: moments"),
        (put("moments", -1), "here: moments"),
        (put("saved", True), "here: saved"),
        (put("next", []), "here: next"),
        (put("next", {"t": 1}), "here: next['t']"),
        (put("ever", {"t": [1, -1]}), "here: ever['t']"),
        (put("ever", {"t": [1e300, 1]}), "here: ever['t']"),
        (put("next", {str(at): [0, 0] for at in range(10_001)}), "here: next"),
        (put("habits", {}), "here: habits"),
        (put("habits", [{**HABIT, "tool": 1}]), "here: habits[0].tool"),
        (put("habits", [{**HABIT, "arguments": []}]), "here: habits[0].arguments"),
        (put("format", DEEP), "here"),
        (put("moments", DEEP), "here: moments"),
        (put("next", {"t": DEEP}), "here: next['t']"),
        (put("habits", [DEEP]), "here: habits[0]"),
        (put("habits", [{**HABIT, "arguments": {"a": DEEP}}]), "here: habits[0].arguments"),
        (put("habits", [{**HABIT, "times": "1"}]), "here: habits[0].times"),
        (put("habits", [{**HABIT, "after": {"ok t": None}}]), "here: habits[0].after"),
    ],
)
def test_a_fault_is_told_by_its_place(change: Callable[[dict[str, Any]], None], where: str) -> None:
    top = json.loads(written(taught()))
    change(top)
    with pytest.raises(InputFault) as caught:
        load_place(json.dumps(top).replace(f'"{DEEP}"', "[" * 1_010 + "]" * 1_010), "here", 0.1)
    assert caught.value.where == where


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["format", "version", "moments", "saved", "next", "ever", "habits"])


@given(st.dictionaries(KEYS, JSON))
@settings(deadline=None)
def test_whatever_stands_there_is_read_or_refused(changes: dict[str, Any]) -> None:
    with suppress(InputFault):
        load_place(json.dumps({**json.loads(written(taught())), **changes}), "here", 0.1)


@given(st.text())
def test_a_text_that_is_no_memory_is_refused(text: str) -> None:
    with pytest.raises(InputFault):
        load_place(text, "here", 0.1)


@st.composite
def places(draw: st.DrawFn) -> Place:
    place = Place.fresh()
    for slopes in draw(st.lists(st.dictionaries(st.sampled_from(["repeat", "new", "tool"]), st.floats(-1, 1)))):
        place.moments += 1
        place.next.step(slopes)
        place.ever.step({trait: -slope for trait, slope in slopes.items()})
    for letter in draw(st.lists(st.sampled_from("abc"))):
        place.habits.note(Invocation("look", {"at": letter}), "user", first=True)
    return place


def shown(place: Place) -> object:
    """All that is known, what is near nothing left out."""
    lessons = [
        {trait: pytest.approx(one.weight, abs=2e-3) for trait, one in of.of.items() if abs(one.weight) > 2e-3}
        for of in (place.next, place.ever)
    ]
    habits = {
        one.invocation.key: (pytest.approx(one.times, abs=2e-3), set(one.after)) for one in place.habits.written()
    }
    return place.moments, lessons, habits


@given(places(), places())
def test_alone_one_keeps_what_one_knows(before: Place, later: Place) -> None:
    assert shown(merged(Place.fresh(), later, Place.fresh())) == shown(later)
    assert shown(merged(before.copy(), before, before.copy())) == shown(before)


@given(places(), places())
def test_what_another_learned_and_what_one_learned_are_both_kept_whoever_writes_first(one: Place, other: Place) -> None:
    nothing = Place.fresh()
    both = merged(one, other, nothing)
    assert shown(both) == shown(merged(other, one, nothing))
    assert both.moments == one.moments + other.moments
    assert both.habits.known.keys() == one.habits.known.keys() | other.habits.known.keys()
    assert shown(merged(both, other, other.copy())) == shown(both)


def test_a_correction_that_both_learned_is_as_large_as_the_larger_and_opposite_ones_meet() -> None:
    one, other = Place.fresh(), Place.fresh()
    one.next.of |= {"same": Lesson(-0.5, 1.0), "opposite": Lesson(0.3, 1.0)}
    other.next.of |= {"same": Lesson(-0.2, 1.0), "opposite": Lesson(-0.1, 1.0)}
    found = merged(one, other, Place.fresh()).next.of
    assert (found["same"].weight, round(found["opposite"].weight, 9)) == (-0.5, 0.2)
    assert found["same"].slopes == 2.0


def test_a_correction_is_no_larger_than_one_that_is_learned() -> None:
    top = {**json.loads(written(taught())), "next": {"repeat": [1e6, 1], "new": [-1e6, 1]}}
    place, _ = load_place(json.dumps(top), "here", 0.1)
    assert {trait: one.weight for trait, one in place.next.of.items()} == {"repeat": 6.0, "new": -6.0}
