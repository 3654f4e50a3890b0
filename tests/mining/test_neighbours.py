"""Words beside words."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.neighbours import Neighbours, may_stand

TEXTS = st.lists(st.sampled_from(["id", "ID", "1432", "card", "(a)", "a", ":", "b:c", "x" * 61, "é."]), max_size=30)


def pairs(text: str) -> dict[str, list[str]]:
    """Every take and what it means, gathered in one walk over the text."""
    words = [word for raw in text.split() if (word := raw.strip(".,;:!?\"'`()[]{}<>$€£*")) and len(word) <= 60]
    found: dict[str, dict[str, None]] = {}
    for word, following in pairwise(words):
        found.setdefault(f"after:{word.lower()}", {})[following] = None
        found.setdefault(f"before:{following.lower()}", {})[word] = None
    return {take: list(values)[:12] for take, values in found.items()}


@given(TEXTS.map(" ".join))
def test_a_take_means_the_words_beside_its_word(text: str) -> None:
    neighbours = Neighbours.of(text)
    every = pairs(text)
    assert all(may_stand(take, text) for take in every)
    assert {take: neighbours.beside(take) for take in every} == every


@given(TEXTS.map(" ".join))
def test_a_word_is_meant_by_the_takes_beside_it(text: str) -> None:
    neighbours = Neighbours.of(text)
    meant = {(take, word) for lower in set(neighbours.lower) for take, word in neighbours.takes_of(lower)}
    assert meant == {(take, word) for take, words in pairs(text).items() for word in words}


def test_twelve_words_at_most_and_none_where_the_word_does_not_stand() -> None:
    neighbours = Neighbours.of(" ".join(f"id {number}" for number in range(50)))
    assert neighbours.beside("after:id") == [str(number) for number in range(12)]
    assert neighbours.beside("after:49") == neighbours.beside("before:nothing") == []


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert Neighbours.of("a " * 2_000 + "id 7").beside("after:id") == []
