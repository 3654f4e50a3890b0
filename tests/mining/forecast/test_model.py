"""A mined model in any session at all."""

from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.outline import Outline
from paste_proxy.events.types import Event
from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.model import NONE, Model, score
from paste_proxy.mining.storage import dump_pool, load_pool
from paste_proxy.mining.window import Window
from tests.mining.worlds import ARGUMENTS, POOL, SESSIONS, TOOLS, recorded

(MODEL,) = POOL.models
TEXT = dump_pool(POOL)
LOADED = load_pool(TEXT, "pool.json")


@settings(max_examples=60, deadline=None)
@given(recorded(), st.integers(1, 12))
def test_it_never_fails_and_gives_probabilities_of_distinct_calls(events: list[Event], size: int) -> None:
    window = Window(size)
    for event in events:
        window.step(event)
        found = MODEL.foresee(window, 999)
        assert len({one.invocation.key for one in found}) == len(found)
        assert sum(one.next for one in found) <= 1 + 1e-9
        assert all(0 <= one.next <= one.ever <= 1 for one in found)
        assert [one.next for one in found] == sorted((one.next for one in found), reverse=True)


@settings(max_examples=40, deadline=None)
@given(recorded(), TOOLS, ARGUMENTS, st.booleans())
def test_what_a_call_may_come_to_be_agrees_with_what_is_known_of_it(
    events: list[Event], tool: str, known: dict[str, Json], whole: bool
) -> None:
    window = Window()
    for event in events:
        window.step(event)
    outline = Outline(tool, known, whole=whole)
    found = MODEL.narrow(window, outline, ())
    assert all(outline.allows(one.invocation) for one in found)
    assert sum(one.share for one in found) <= 1
    assert all(0 <= one.share <= 1 >= one.later >= 0 for one in found)


@settings(max_examples=40, deadline=None)
@given(recorded())
def test_summed_by_parts_traits_weigh_what_they_weigh_one_by_one(events: list[Event]) -> None:
    window = Window()
    for event in events:
        window.step(event)
    found = MODEL.weigh(window, lambda tool: True)
    odds = [score(MODEL.next, list(told)) + one.soon for _, one, told in found]
    masses = [exp(each) for each in [*odds, MODEL.next.get(NONE, 0.0)]]
    assert [mass for mass, _, _ in found] == pytest.approx([mass / sum(masses) for mass in masses[:-1]], abs=1e-12)


def test_only_executable_tools_are_foreseen() -> None:
    window = Window()
    for event in SESSIONS[0].events:
        window.step(event)
        assert {one.invocation.tool for one in MODEL.foresee(window, 99, lambda tool: tool == "read")} <= {"read"}


def foreseen(model: Model, events: list[Event]) -> list[object]:
    window, found = Window(), list[object]()
    for event in events:
        window.step(event)
        found += model.foresee(window, 99)
    return found


@settings(max_examples=40, deadline=None)
@given(recorded())
def test_a_model_read_from_its_file_foresees_the_very_same(events: list[Event]) -> None:
    assert foreseen(LOADED.models[0], events) == foreseen(MODEL, events)


def test_a_pool_with_a_model_reads_as_it_was_written() -> None:
    assert dump_pool(LOADED) == TEXT
    assert LOADED.patterns == POOL.patterns
    assert LOADED.models[0].finder.arguments == MODEL.finder.arguments
    assert LOADED.models[0].finder.choice == MODEL.finder.choice
