"""What was used, kept by several sidecars that know of each other only by what is kept."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.speculation.budgets.used import SESSIONS, Book, Record, Used, whole

DAY = "2026-03-01"
amounts = st.builds(
    Used,
    calls=st.integers(0, 3),
    money=st.integers(0, 8).map(lambda eighths: eighths / 8),
    bytes=st.integers(0, 99),
    cpu_s=st.integers(0, 8).map(lambda eighths: eighths / 8),
    rules=st.sampled_from(("one", "other")).map(lambda rule: Counter({rule: 1})),
)
steps = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(("charge", "keep", "fail")), amounts), max_size=30)


def opened(day: str = DAY) -> Book:
    book = Book()
    book.turn(day, 0)
    return book


def keep(book: Book, kept: Record | None) -> Record:
    record, fresh = book.take()
    made = whole(kept, record, fresh)
    book.kept(made.copy(), record)
    return made


@settings(max_examples=200, derandomize=True, database=None, deadline=None)
@given(told=steps)
def test_what_several_use_on_a_day_is_kept_once_each_and_known_to_all(told: list[tuple[int, str, Used]]) -> None:
    books, kept, total = [opened() for _ in range(3)], Record(DAY), Used()
    for who, what, used in told:
        if what == "charge":
            books[who].charge(f"session {who}", used)
            total.add(used)
        elif what == "keep":
            kept = keep(books[who], kept)
        else:
            books[who].not_kept(books[who].take()[1])
    for book in books * 2:
        kept = keep(book, kept)
    assert kept.used == total
    assert [book.record.used for book in books] == [total] * 3
    by_session = Used()
    for used in kept.sessions.values():
        by_session.add(used)
    assert by_session == total


def test_what_comes_while_it_is_kept_is_kept_next_time() -> None:
    book = opened()
    book.charge("s", Used(calls=1))
    record, fresh = book.take()
    book.charge("s", Used(calls=1))
    book.kept(whole(Record(DAY, Used(calls=5)), record, fresh), record)
    assert (book.record.used.calls, book.fresh.used.calls) == (7, 1)


def test_another_days_record_is_left_behind() -> None:
    book = opened()
    book.charge("s", Used(calls=1))
    assert keep(book, Record("2026-02-28", Used(calls=9))).used.calls == 1


def test_a_record_of_a_day_to_come_is_gone_on_with_so_that_no_clock_gives_anything_away() -> None:
    book = opened()
    book.charge("s", Used(calls=1))
    kept = keep(book, Record("2031-01-01", Used(calls=9)))
    assert (kept.day, kept.used.calls) == (DAY, 10)


def test_a_day_that_turns_while_it_cannot_be_kept_takes_nothing_along() -> None:
    book = opened()
    book.charge("s", Used(calls=4))
    _, fresh = book.take()
    book.turn("2026-03-02", 10)
    book.not_kept(fresh)
    book.charge("s", Used(calls=1))
    kept = keep(book, None)
    assert (kept.used.calls, kept.of("s").calls) == (1, 5)


def test_the_sessions_remembered_are_bounded() -> None:
    book = opened()
    for number in range(3 * SESSIONS):
        book.charge(f"session {number}", Used(calls=1))
    assert len(book.record.sessions) == len(book.fresh.sessions) == SESSIONS
    assert book.record.used.calls == 3 * SESSIONS
