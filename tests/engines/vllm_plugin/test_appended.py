"""What is appended behind a call: the difference to the next request."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.engines.vllm_plugin.appended import Appended, behind, behind_turn

END = 99
TOKENS = st.lists(st.integers(0, 9), max_size=12)


def test_the_rest_of_the_next_request_is_what_follows_what_is_held() -> None:
    assert behind([1, 2, END], [1, 2, END, 5, 6]) == Appended([5, 6], exact=True)


def test_nothing_is_appended_where_the_next_request_begins_otherwise() -> None:
    assert behind([1, 2, END], [1, 3, END, 5, 6]) is None
    assert behind([1, 2, END], [1, 2, END]) is None


def test_a_call_in_other_words_is_followed_by_what_follows_its_turn() -> None:
    assert behind_turn(END, [1, 3, END, 0], [1, 3, END, 0, 5, 6]) == Appended([0, 5, 6], exact=False)


def test_a_template_without_that_end_or_that_rewrites_what_came_before_is_left_alone() -> None:
    assert behind_turn(END, [1, 3, 4], [1, 3, 4, 5]) is None
    assert behind_turn(END, [1, 3, END], [7, 3, END, 5]) is None


@given(TOKENS, TOKENS, TOKENS.filter(bool))
def test_both_ways_give_the_same_where_the_words_are_the_same(
    prompt: list[int], written: list[int], more: list[int]
) -> None:
    held = [*prompt, *written, END]
    exactly, by_turn = behind(held, held + more), behind_turn(END, [*held, 0], [*held, 0, *more])
    assert exactly is not None
    assert exactly.tokens == more
    assert by_turn is not None
    assert by_turn.tokens == [0, *more]
