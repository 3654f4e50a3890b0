"""One argument: its options, their marks, and their odds in both voices."""

from dataclasses import replace
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.types import Event
from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import named
from paste_proxy.mining.contexts import outcome
from paste_proxy.mining.forecast.slot import (
    Constant,
    Marks,
    Option,
    Slot,
    constant_sums,
    identity,
    mapper_table,
    options,
    phrases_of,
)
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.sources import Source
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script
from tests.mining.worlds import POOL, recorded

MAPPERS = [
    Mapper(Source("output", "search"), "/flights/*/number"),
    Mapper(Source("output", "*", each=True), "path"),
    Mapper(Source("output", "read"), "file", last=True),
    Mapper(Source("user"), "after:id"),
    Mapper(Source("user"), "word:X3"),
]
SLOT = Slot(
    "read",
    "path",
    tuple((named(mapper), mapper) for mapper in MAPPERS),
    (Constant("/home/zoe/app/src/rules.py", 0.4), Constant("BOS", 0.25), Constant(1, 0.2), Constant(True, 0.1)),
    {"boston": "BOS", "denver": "DEN", "to denver": 1.0},
    enumerated=True,
    covered=0.8,
)


def seen(events: list[Event], size: int = 12) -> Window:
    window = Window(size)
    for event in events:
        window.step(event)
    return window


def marked(slot: Slot, window: Window) -> list[Option[Marks]]:
    """The options as training sees them."""
    table = mapper_table(slot, outcome(window.context()[-1]), lambda marks: marks)
    return options(slot, window, lambda marks: marks, table, constant_sums(slot.constants, lambda marks: marks))


@settings(max_examples=60, deadline=None)
@given(recorded(), st.lists(st.sampled_from([0.0, -1.5, -0.25, 0.5, 2.0]), min_size=1, max_size=40))
def test_the_live_odds_are_a_softmax_over_the_weights_of_the_marks_that_training_sees(
    events: list[Event], drawn: list[float]
) -> None:
    window = seen(events)
    told = marked(SLOT, window)
    marks = sorted({mark for one in told for mark in one.sum})
    weights = {mark: drawn[at % len(drawn)] for at, mark in enumerate(marks)}
    sums = {identity(one.value): sum(weights.get(mark, 0.0) for mark in one.sum) for one in told}
    whole = sum(map(exp, sums.values()))
    likely = replace(SLOT, weights=weights).likely(window, 99)
    found = {identity(option.value): probability for probability, option in likely}
    assert found == {key: pytest.approx(0.8 * exp(total) / whole) for key, total in sums.items()}
    assert [probability for probability, _ in likely] == sorted(found.values(), reverse=True)


@settings(max_examples=40, deadline=None)
@given(recorded(), st.sampled_from(sorted(POOL.models[0].finder.arguments.slots)))
def test_a_mined_slot_ranks_by_its_marks(events: list[Event], where: tuple[str, str]) -> None:
    slot, window = POOL.models[0].finder.arguments.slots[where], seen(events)
    told = marked(slot, window)
    sums = {identity(one.value): sum(slot.weights.get(mark, 0.0) for mark in one.sum) for one in told}
    ranked = [sums[identity(option.value)] for _, option in slot.likely(window, 99)]
    assert ranked == pytest.approx(sorted(sums.values(), reverse=True))


@settings(max_examples=40, deadline=None)
@given(recorded())
def test_options_that_last_are_those_that_would_be_found_anew(events: list[Event]) -> None:
    arguments, window = POOL.models[0].finder.arguments, Window(9)
    for event in events:
        window.step(event)
        anew = window.fork()
        anew.lasting.clear()
        for slot in (SLOT, *arguments.slots.values()):
            assert slot.likely(window, 99) == slot.likely(anew, 99)
        for tool in arguments.shapes:
            assert arguments.likely(tool, window, 6) == arguments.likely(tool, anew, 6)


VALUES: list[Json] = [1, 1.0, True, "1", [1], [1.0], ["1"], [True], {"1": 1}, {"1": 1.0}, None, "", 0, False, [], {}]


def test_values_are_told_apart_as_a_tool_would() -> None:
    assert len({identity(value) for value in VALUES}) == len(VALUES)
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})
    slot = Slot("t", "x", constants=tuple(Constant(value, 0.1) for value in VALUES))
    found = [option.value for _, option in slot.likely(seen([]), 99)]
    assert [repr(value) for value in found] == [repr(value) for value in VALUES]


def test_a_value_found_in_several_ways_has_the_marks_of_all() -> None:
    script = Script().user("fly from BOS in Boston").call("search", {}, {"flights": [{"number": "BOS"}]})
    (option,) = [one for one in marked(SLOT, seen(script.events)) if one.value == "BOS"]
    assert {f"{named(MAPPERS[0])}#only", f"{named(MAPPERS[4])}#0@ok search", "constant#1", "phrase#0"} <= {*option.sum}
    assert {"BOS&boston", "share#2", "used#never", "like#X3"} <= {*option.sum}


def test_how_long_ago_a_value_was_given_is_marked() -> None:
    script = Script()
    for path in ("a", "BOS", "b", "c", "d"):
        script.call("read", {"path": path}, "")
    assert "used#few" in next(one for one in marked(SLOT, seen(script.events)) if one.value == "BOS").sum
    script.call("read", {"path": "BOS"}, "").call("other", {"path": "x"}, "")
    assert "used#0" in next(one for one in marked(SLOT, seen(script.events)) if one.value == "BOS").sum


def test_a_path_known_from_elsewhere_is_moved_into_the_folders_of_the_session() -> None:
    script = Script().call("read", {"path": "/work/me/app/src/fares.py"}, "")
    values = [option.value for _, option in SLOT.likely(seen(script.events), 99)]
    assert "/work/me/app/src/rules.py" in values
    assert "/home/zoe/app/src/rules.py" not in values
    likely = next(one for one in marked(SLOT, seen(script.events)) if one.value == "/work/me/app/src/rules.py")
    assert "kin#sibling" in likely.sum


def test_phrases_of_the_last_message_come_first_each_in_the_order_it_is_said() -> None:
    slot = Slot("t", "x", phrases={"denver": "DEN", "boston": "BOS", "new york": "JFK"})
    script = Script().user("from Boston!").user("via New York, to Denver")
    ranks = {str(one.value): one.sum[0] for one in marked(slot, seen(script.events))}
    assert ranks == {"JFK": "phrase#0", "DEN": "phrase#1", "BOS": "phrase#2"}


def test_phrases_are_runs_of_up_to_three_words() -> None:
    assert list(phrases_of("To New York, now")) == [
        "to new york", "to new", "to", "new york now", "new york", "new", "york now", "york", "now",
    ]  # fmt: skip


def test_of_values_from_two_rows_both_choices_are_kept() -> None:
    numbers: Json = {"flights": [{"number": "a"}, {"number": "b"}]}
    found = SLOT.likely(seen(Script().call("search", {}, numbers).events), 99)
    rows = [list(choice.values()) for _, option in found if option.value in ("a", "b") for choice in option.choices]
    assert sorted(rows) == [[0], [1]]


@pytest.mark.parametrize("after", ["ok a", "ok me@a", "ok b@c@d", "error other"])
def test_marks_after_an_outcome_count_after_that_one_alone(after: str) -> None:
    name, mapper = "user@|text", MAPPERS[4]
    marks = {f"{name}#0@{known}": float(at) for at, known in enumerate(["ok a", "ok me@a", "ok b@c@d"], 1)}
    slot = replace(SLOT, mappers=((name, mapper),), weights={**marks, f"{name}#0": 0.5})
    assert slot._table(after) == mapper_table(slot, after, slot._weigh)
