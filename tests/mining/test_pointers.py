"""Leaves of payloads."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.values import Json
from paste_proxy.mining.pointers import Leaf, Leaves, leaves

KEYS = st.sampled_from(["a", "b/c", "~", "*", "#", "id 1", "7", "", "naïve"])
PAYLOADS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=14) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=60,
)


def by_the_book(value: Json, pointer: str = "", rows: tuple[int, ...] = (), depth: int = 0) -> list[Leaf]:
    """The definition, as plainly as it can be said."""
    if depth > 12 or value is None or value == "":
        return []
    if isinstance(value, list):
        own = [(pointer, rows, value)] if pointer and 0 < len(value) <= 12 else []
        below = [by_the_book(item, f"{pointer}/*", (*rows, row), depth + 1) for row, item in enumerate(value)]
        return own + [leaf for some in below for leaf in some]
    if isinstance(value, dict):
        found: list[Leaf] = []
        for row, (key, item) in enumerate(value.items()):
            if any(character.isdigit() or character in "/ " for character in key):
                found.append((f"{pointer}/#", (*rows, row), key))
                found += by_the_book(item, f"{pointer}/*", (*rows, row), depth + 1)
            else:
                step = {"*": "~2", "#": "~3"}.get(key, key.replace("~", "~0"))
                found += by_the_book(item, f"{pointer}/{step}", rows, depth + 1)
        return found
    return [(pointer, rows, value)]


@given(PAYLOADS)
def test_leaves_are_those_of_the_definition(payload: Json) -> None:
    assert [repr(leaf) for leaf in leaves(payload)] == [repr(leaf) for leaf in by_the_book(payload)]


def test_no_more_than_seven_hundred_leaves_in_document_order() -> None:
    payload: Json = {"rows": [{"n": number, "tags": ["x", "y"]} for number in range(3_000)]}
    assert leaves(payload) == by_the_book(payload)[:700]


def test_what_is_nested_beyond_twelve_levels_is_left_out() -> None:
    payload: Json = "deep"
    for _ in range(13):
        payload = [payload]
    assert leaves(payload) == by_the_book(payload)
    assert all(value != "deep" for _, _, value in leaves(payload))


def test_a_list_of_nothing_is_not_gone_through_to_its_end() -> None:
    payload: Json = {"rows": [*([None] * 2_000), "late"]}
    assert leaves(payload) == []


def test_an_object_of_nothing_is_not_gone_through_to_its_end() -> None:
    payload: Json = {**{"n" * length: None for length in range(1, 2_000)}, "late": "late"}
    assert leaves(payload) == []


@given(PAYLOADS, st.lists(st.integers(0, 8), max_size=6))
def test_whatever_is_looked_at_first_leaves_and_columns_are_the_same(payload: Json, order: list[int]) -> None:
    gradual, every = Leaves(payload), leaves(payload)
    pointers = [*dict.fromkeys(pointer for pointer, _, _ in every), "/none"]
    for nth in order:
        pointer = pointers[nth % len(pointers)]
        read = [repr(leaf) for leaf in islice(gradual.column(pointer), 1 + nth % 3)]
        assert read == [repr(leaf) for leaf in every if leaf[0] == pointer][: 1 + nth % 3]
    assert [repr(leaf) for leaf in gradual] == [repr(leaf) for leaf in every]


@given(PAYLOADS)
def test_a_value_is_in_the_first_list_that_holds_it(payload: Json) -> None:
    first: dict[Json, str] = {}
    for pointer, _, value in leaves(payload):
        if "*" in pointer and type(value) in (str, int):
            first.setdefault(value, pointer)
    assert Leaves(payload).lists == first
