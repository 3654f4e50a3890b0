"""What an engine holds of sessions between two turns."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.sim.prefix_cache import PrefixCache


def test_what_was_kept_is_found_once() -> None:
    cache = PrefixCache()
    cache.keep("a", 100.0)
    assert (cache.take("a"), cache.take("a"), cache.held) == (100.0, 0.0, 0.0)


def test_the_one_used_longest_ago_loses_its_end_first() -> None:
    cache = PrefixCache()
    for session in ("a", "b", "c"):
        cache.keep(session, 100.0)
    cache.shrink(150.0)
    assert [cache.take(session) for session in ("a", "b", "c")] == [0.0, 50.0, 100.0]


@given(
    kept=st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1e6)), max_size=20),
    rooms=st.lists(st.floats(-1e6, 1e6), max_size=5),
)
def test_no_more_is_held_than_there_is_room_for(kept: list[tuple[str, float]], rooms: list[float]) -> None:
    cache = PrefixCache()
    for session, tokens in kept:
        cache.keep(session, tokens)
    for room in rooms:
        cache.shrink(room)
        assert cache.held <= max(room, 0.0) + 1e-6
