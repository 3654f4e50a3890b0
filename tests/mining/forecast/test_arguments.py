"""Whole invocations out of the options of every argument."""

from math import log

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import named
from paste_proxy.mining.forecast.arguments import Arguments, Shape
from paste_proxy.mining.forecast.slot import Constant, Slot
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.sources import Source
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script


def column(name: str) -> Slot:
    mapper = Mapper(Source("output", "search"), f"/flights/*/{name}")
    return Slot("book", name, ((named(mapper), mapper),), covered=0.9)


FLIGHTS = Window()
ROWS: list[Json] = [{"number": f"n{row}", "day": f"d{row}"} for row in range(3)]
for event in Script().call("search", {}, {"flights": ROWS}).events:
    FLIGHTS.step(event)


def test_values_of_one_row_are_joined_before_those_of_two() -> None:
    slots = {("book", name): column(name) for name in ("number", "day")}
    found = Arguments({"book": (Shape(("day", "number"), 1.0),)}, slots).likely("book", FLIGHTS, 9)
    assert [one.arguments for _, one in found[:3]] == ROWS
    odds = [one for one, _ in found]
    assert odds == sorted(odds, reverse=True)
    assert odds[0] == pytest.approx(2 * log(0.9 / 3))
    assert odds[3] == pytest.approx(2 * log(0.9 / 3) - 2.5)


def test_the_odds_of_a_call_are_those_of_its_shape_and_of_each_value() -> None:
    slots = {("t", name): Slot("t", name, constants=(Constant(name, 1.0),), covered=0.5) for name in "ab"}
    shapes = {"t": (Shape((), 0.6), Shape(("a", "b"), 0.3), Shape(("a",), 0.07))}
    found = {one.key: odds for odds, one in Arguments(shapes, slots).likely("t", FLIGHTS, 9)}
    assert found == {
        Invocation("t", {}).key: pytest.approx(log(0.6)),
        Invocation("t", {"a": "a", "b": "b"}).key: pytest.approx(log(0.3 * 0.5 * 0.5)),
    }


def test_what_is_known_of_a_call_stays_and_rules_out_shapes_without_it() -> None:
    slots = {("book", name): column(name) for name in ("number", "day")}
    shapes = {"book": (Shape(("number",), 0.5), Shape(("day", "number"), 0.5))}
    found = Arguments(shapes, slots).likely("book", FLIGHTS, 9, {"day": "tomorrow"})
    assert [one.arguments for _, one in found] == [{"day": "tomorrow", "number": f"n{row}"} for row in range(3)]


def test_an_argument_without_options_and_a_tool_without_shapes_give_nothing() -> None:
    arguments = Arguments({"t": (Shape(("a",), 1.0),)}, {("t", "a"): Slot("t", "a")})
    assert arguments.likely("t", FLIGHTS, 9) == arguments.likely("other", FLIGHTS, 9) == []
