"""Invocations that are made once are those that are made anew."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.invoked import invoked

VALUES: st.SearchStrategy[Json] = st.text(max_size=3) | st.integers(0, 2) | st.booleans() | st.just("x" * 301)


@given(st.text(max_size=2), st.dictionaries(st.sampled_from("abc"), VALUES))
def test_it_is_the_invocation_whatever_its_arguments(tool: str, arguments: dict[str, Json]) -> None:
    for _ in range(2):
        one = invoked(tool, dict(arguments))
        assert (one, one.arguments) == (Invocation(tool, arguments), arguments)


def test_short_texts_are_one_invocation() -> None:
    assert invoked("t", {"a": "b"}) is invoked("t", {"a": "b"})
