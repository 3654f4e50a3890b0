"""Which sessions are learned from where there are too many."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.sample import Sized, sampled

SESSIONS = st.lists(
    st.builds(Sized, st.text(max_size=6), st.sampled_from("abcdefghij"), st.integers(0, 60)),
    max_size=40,
    unique_by=lambda session: session.id,
)


def size(sessions: list[Sized]) -> int:
    return sum(max(session.calls, 1) for session in sessions)


@given(SESSIONS, st.integers(1, 900), st.randoms(use_true_random=False))
def test_a_sample_holds_what_it_may_and_does_not_depend_on_the_order(sessions, calls, chance) -> None:  # type: ignore[no-untyped-def]
    kept = sampled(sessions, calls)
    assert size([session for session in sessions if session.id in kept]) <= calls
    shuffled = list(sessions)
    chance.shuffle(shuffled)
    assert sampled(shuffled, calls) == kept
    if size(sessions) <= calls:
        assert kept == {session.id for session in sessions}


@given(SESSIONS, st.integers(1, 900))
def test_a_group_within_its_share_is_taken_whole_or_not_at_all(sessions: list[Sized], calls: int) -> None:
    kept = sampled(sessions, calls)
    for group in {session.group for session in sessions}:
        members = [session for session in sessions if session.group == group]
        if size(members) <= calls // 8:
            assert len({session.id in kept for session in members}) == 1


def test_most_of_what_may_be_learned_from_is() -> None:
    sessions = [Sized(f"s{task}-{trial}", f"s{task}", 10) for task in range(1_000) for trial in range(3)]
    assert 9_970 <= 10 * len(sampled(sessions, 10_000)) <= 10_000


def test_a_task_run_a_thousand_times_leaves_room_for_others() -> None:
    often = [Sized(f"often{at}", group, 10) for group in ("often", "too") for at in range(2_000)]
    others = [Sized(f"other{at}", f"other{at}", 10) for at in range(500)]
    kept = sampled([*often, *others], 4_000)
    assert 50 <= sum(name.startswith("often") for name in kept) <= 100
    assert sum(name.startswith("other") for name in kept) >= 300


def test_more_calls_than_before_keep_what_the_sample_had_of_small_groups() -> None:
    sessions = [Sized(f"s{at}", f"s{at}", 10) for at in range(100)]
    assert sampled(sessions, 200) < sampled(sessions, 400)


def test_a_session_larger_than_all_that_may_be_learned_from_is_left_out() -> None:
    assert sampled([Sized("long", "long", 30)], 20) == frozenset()
    assert sampled([Sized("long", "long", 30), Sized("short", "short", 3)], 20) == {"short"}
