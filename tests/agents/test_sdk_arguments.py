"""Python arguments as JSON and back."""

import enum
from inspect import signature
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.agents.sdk_arguments import as_json, named, spread, without_defaults
from paste_proxy.events.values import canonical_text, loads
from tests.agents.test_protocol import ARGUMENTS


def tool(a: Any, b: Any = "b", /, c: Any = "c", *, d: Any = "d", **rest: Any) -> tuple[Any, ...]:
    return a, b, c, d, rest


@given(st.lists(st.integers(), min_size=1, max_size=3), st.dictionaries(st.sampled_from("cdefg"), st.integers()))
def test_a_call_by_name_is_the_call_itself(args: list[int], kwargs: dict[str, int]) -> None:
    if len(args) == 3:
        kwargs.pop("c", None)
    arguments = named(signature(tool), tuple(args), kwargs)
    assert arguments is not None
    back, by_name = spread(signature(tool), arguments)
    assert tool(*back, **by_name) == tool(*args, **kwargs)


def test_defaults_are_left_out() -> None:
    assert named(signature(tool), (1,), {"e": 2}) == {"a": 1, "e": 2}


def test_a_default_that_the_llm_wrote_is_kept_and_one_that_it_did_not_is_not() -> None:
    def look(place: str, deep: bool = False, steps: int = 1, at: tuple[int, ...] = ()) -> None: ...

    filled = {"place": "a", "deep": False, "steps": 1, "at": ()}
    assert without_defaults(signature(look), filled, {"place": "a"}) == {"place": "a"}
    assert without_defaults(signature(look), filled, {"place": "a", "deep": False}) == {"place": "a", "deep": False}
    changed = {"place": "a", "deep": 0, "steps": 1.0, "more": 1}
    assert without_defaults(signature(look), changed, {"place": "a"}) == changed, "alike is not the same"


def test_what_has_no_name_or_does_not_fit_has_no_json_form() -> None:
    def many(*items: int) -> None: ...

    assert named(signature(many), (1, 2), {}) is None
    assert named(signature(many), (), {}) == {}
    assert named(signature(tool), (), {}) is None
    assert named(signature(tool), (1,), {"a": 2}) is None, "a positional name taken by a keyword of the same name"


@given(ARGUMENTS)
def test_json_survives_the_way_exactly_and_is_a_copy(arguments: dict[str, Any]) -> None:
    copy = as_json(arguments, longest=10**6)
    assert copy is not arguments
    assert copy is not None
    assert canonical_text(copy) == canonical_text(arguments)
    assert canonical_text(loads(canonical_text(copy))) == canonical_text(arguments)


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    "value", [(1, 2), {1: 2}, Colour.RED, {Colour.RED: 1}, float("nan"), float("-inf"), b"x", {1}, "\ud800", object()]
)
def test_what_json_would_change_is_not_json(value: object) -> None:
    assert as_json({"value": [value]}, longest=10**6) is None


def test_neither_is_what_is_no_object_too_long_or_endless() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert as_json([1], longest=100) is None
    assert as_json({"text": "x" * 100}, longest=100) is None
    assert as_json({"endless": endless}, longest=100) is None
