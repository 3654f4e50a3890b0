"""Sequences that are found only as far as they are wanted."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.gradual import Gradual


@given(st.lists(st.integers()), st.lists(st.integers(0, 9)))
def test_readers_in_turn_each_see_all_of_it(items: list[int], order: list[int]) -> None:
    gradual = Gradual(iter(items))
    readers = [iter(gradual), iter(gradual)]
    seen: list[list[int]] = [[], []]
    for nth in order:
        seen[nth % 2].extend(islice(readers[nth % 2], nth // 2))
    for reader, some in zip(readers, seen, strict=True):
        assert [*some, *reader] == items
    assert list(gradual) == gradual.all() == items
    assert bool(gradual) == bool(items)


def test_no_more_is_found_than_is_wanted() -> None:
    source = iter(range(10))
    assert list(islice(Gradual(source), 3)) == [0, 1, 2]
    assert bool(Gradual(source))
    assert next(source) == 4


@given(st.lists(st.integers()), st.integers(0, 9))
def test_the_first_few_are_those_of_all(items: list[int], number: int) -> None:
    assert Gradual(iter(items)).first(number) == items[:number]
