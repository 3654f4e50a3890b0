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
from paste_proxy.mining.forecast.memory import load_place, text_of

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
        (put("habits", [{**HABIT, "times": "1"}]), "here: habits[0].times"),
        (put("habits", [{**HABIT, "after": {"ok t": None}}]), "here: habits[0].after"),
    ],
)
def test_a_fault_is_told_by_its_place(change: Callable[[dict[str, Any]], None], where: str) -> None:
    top = json.loads(written(taught()))
    change(top)
    with pytest.raises(InputFault) as caught:
        load_place(json.dumps(top), "here", 0.1)
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
