"""Domains, epochs, and writes on their way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.speculation.domains import overlap
from paste_proxy.speculation.effects import ABANDONED_S, Effects
from paste_proxy.speculation.outside import OPEN_CALLS, Outside, OutsideWrites

from .playbook import reachable

domains = st.sampled_from(("crm", "crm:orders", "crm:orders:eu", "crm:clients", "crmx", "web", "*"))


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("crm", "crm", True),
        ("crm", "crm:orders", True),
        ("crm", "crmx", False),
        ("crm:orders", "crm:clients", False),
        ("*", "web", True),
        ("web", "crm", False),
    ],
)
def test_a_domain_covers_those_below_it(one: str, other: str, share: bool) -> None:
    assert overlap(one, other) is share
    assert overlap(other, one) is share


def test_a_write_moves_the_epoch_where_it_begins_and_where_it_ends() -> None:
    effects = Effects()
    before = effects.epoch
    effects.began({"crm"})
    during = effects.epoch
    assert effects.moved({"crm:orders"}, before)
    assert not effects.moved({"crm:orders"}, during)
    effects.ended({"crm"})
    assert effects.moved({"crm:orders"}, during)
    assert not effects.moved({"crm:orders"}, effects.epoch)
    assert not effects.moved({"web"}, before)


def test_a_domain_is_dirty_until_its_last_write_has_ended() -> None:
    effects = Effects()
    effects.began({"crm"})
    effects.began({"crm", "web"})
    effects.ended({"crm"})
    assert effects.dirty({"crm"}, 0)
    effects.ended({"crm", "web"})
    assert not effects.dirty({"crm", "web"}, 0)


def test_a_write_that_lingers_keeps_its_domain_dirty_for_a_while() -> None:
    effects = Effects()
    effects.linger({"crm"}, 10)
    assert effects.dirty({"crm"}, 10 + ABANDONED_S - 1)
    assert not effects.dirty({"web"}, 10 + ABANDONED_S - 1)
    assert not effects.dirty({"crm"}, 10 + ABANDONED_S)


def test_writes_that_linger_are_forgotten_even_if_nobody_looks() -> None:
    effects = Effects()
    for number in range(5_000):
        effects.linger({f"order:{number}"}, number)
    early = reachable(effects)
    for number in range(5_000, 10_000):
        effects.linger({f"order:{number}"}, number)
    assert reachable(effects) <= 1.1 * early


def test_what_reads_nothing_is_touched_by_nothing() -> None:
    effects = Effects()
    effects.began({"*"})
    assert not effects.moved((), 0)
    assert not effects.dirty((), 0)


@given(
    st.lists(st.tuples(st.sets(domains, min_size=1), st.booleans()), max_size=12), st.sets(domains), st.integers(0, 12)
)
def test_moved_and_dirty_agree_with_a_plain_record_of_all_writes(
    writes: list[tuple[set[str], bool]], reads: set[str], started_after: int
) -> None:
    """Each write begins in turn and some end at once; a job starts after the first few."""
    effects = Effects()
    since = effects.epoch
    later: set[str] = set()
    on_their_way: set[str] = set()
    for turn, (written, ends) in enumerate(writes):
        if turn == started_after:
            since, later = effects.epoch, set()
        effects.began(written)
        later |= written
        if ends:
            effects.ended(written)
        else:
            on_their_way |= written
    if started_after >= len(writes):
        since, later = effects.epoch, set()
    assert effects.moved(reads, since) == any(overlap(read, write) for read in reads for write in later)
    assert effects.dirty(reads, 0) == any(overlap(read, write) for read in reads for write in on_their_way)


def test_outside_writes_pair_by_session_and_id_in_order() -> None:
    outside, (one, other, third) = OutsideWrites(), (Outside(frozenset({name})) for name in "abc")
    outside.began("s", "1", one)
    outside.began("s", "1", other)
    outside.began("t", "1", third)
    assert outside.ended("s", "1") == one
    assert outside.ended("s", "2") is None
    assert outside.ended("s", "1") == other
    assert outside.ended("s", "1") is None
    assert outside.forget("t") == [third]
    assert outside.forget_all() == []


def test_a_session_that_reports_no_ends_is_bounded() -> None:
    outside = OutsideWrites()
    calls = [Outside(frozenset({str(number)})) for number in range(OPEN_CALLS + 3)]
    given_up = [outside.began("s", str(number), call) for number, call in enumerate(calls)]
    assert [each for each in given_up if each is not None] == calls[:3]
    assert len(outside.forget("s")) == OPEN_CALLS
