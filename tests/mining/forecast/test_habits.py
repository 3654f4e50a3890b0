"""What is usually asked for in a place: by several sessions, after an outcome, lately, and no more than fits."""

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.habits import HALF_LIFE, Habits

TEST = Invocation("shell", {"command": "npm test"})
LINT = Invocation("shell", {"command": "npm run lint"})


def usual(habits: Habits, after: str = "ok edit", own: tuple[str, ...] = ()) -> list[Invocation]:
    return [one.invocation for one in habits.usual(after, own)]


def test_what_others_asked_for_after_such_an_outcome_comes_first() -> None:
    habits = Habits()
    for _ in range(3):
        habits.note(TEST, "ok edit", first=True)
        habits.note(LINT, "ok write", first=True)
    assert usual(habits) == [TEST, LINT]
    assert usual(habits, "ok write") == [LINT, TEST]


def test_what_only_the_session_itself_asked_for_is_no_habit() -> None:
    habits = Habits()
    habits.note(TEST, "ok edit", first=True)
    habits.note(TEST, "ok edit", first=False)
    habits.note(TEST, "ok edit", first=True)
    assert usual(habits, own=(TEST.key,)) == [], "one other session is no habit"
    assert usual(habits) == [TEST]


def test_its_share_is_of_the_calls_after_that_outcome() -> None:
    habits = Habits()
    for call in (TEST, TEST, TEST, LINT):
        habits.note(call, "ok edit", first=True)
    shares = {one.invocation: one.share for one in habits.usual("ok edit", ())}
    assert round(shares[TEST], 2) == 0.75


def test_what_is_no_longer_asked_for_fades() -> None:
    habits = Habits()
    for _ in range(2):
        habits.note(TEST, "ok edit", first=True)
    for _ in range(3 * HALF_LIFE):
        habits.note(LINT, "ok edit", first=False)
    assert TEST not in usual(habits)


def test_time_fades_them_as_well() -> None:
    habits = Habits()
    for _ in range(2):
        habits.note(TEST, "ok edit", first=True)
    habits.faded(0.1)
    assert usual(habits) == []


def test_long_arguments_are_no_habit() -> None:
    habits = Habits()
    habits.note(Invocation("write", {"text": "x" * 500}), "ok edit", first=True)
    assert habits.known == {}


def test_a_new_one_finds_room_among_those_asked_for_once() -> None:
    habits = Habits()
    for number in range(5_000):
        habits.note(Invocation("read", {"path": f"{number}"}), f"ok {number % 100}", first=True)
        if number % 50 == 0:
            habits.note(TEST, "ok edit", first=True)
    assert usual(habits)[0] == TEST
    assert len(habits.known) <= 640
    assert len(habits.after) <= 64


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.booleans()), max_size=200))
@settings(max_examples=50, deadline=None)
def test_what_was_written_is_read_back(notes: list[tuple[int, int, bool]]) -> None:
    habits = Habits()
    for number, after, first in notes:
        habits.note(Invocation("read", {"path": str(number)}), f"ok {after}", first=first)
    again = Habits.of(habits.written())
    for after in range(4):
        one, other = (list(known.usual(f"ok {after}", ())) for known in (habits, again))
        assert {(habit.invocation, round(habit.share, 6)) for habit in one} == {
            (habit.invocation, round(habit.share, 6)) for habit in other
        }
