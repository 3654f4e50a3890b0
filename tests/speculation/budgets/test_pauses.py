"""What keeps calls back goes on in the next process, by the clock on the wall, and never for longer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.budgets.backoff import Closed
from paste_proxy.speculation.budgets.budgets import NO_BUDGET, BudgetLimits, Budgets
from paste_proxy.speculation.budgets.limited import Limited
from paste_proxy.speculation.budgets.pauses import Pauses
from paste_proxy.speculation.budgets.waste import Door

NOON = 1_800_000_000.0
"""On the wall."""
OK = ToolResult(body=b"fine", status=Status.OK)
WASTEFUL = BudgetLimits(wasted_s_per_minute=10.0)


def next_process(
    budgets: Budgets, now: float, wall: float, then: float, *, limits: BudgetLimits = NO_BUDGET
) -> Budgets:
    """What was kept at `wall`, or `now` of the first process, read at `then` by one whose own clock shows 5."""
    kept = budgets.pauses(now).shifted(wall - now)
    made = Budgets(limits, {})
    made.resume(kept.as_of(then).shifted(5 - then), 5)
    return made


def left(budgets: Budgets, now: float) -> dict[str, float]:
    return {tool: round(seconds, 3) for tool, seconds in budgets.closed(now)}


def test_a_service_that_asked_for_a_pause_has_what_is_left_of_it() -> None:
    budgets = Budgets(NO_BUDGET, {})
    budgets.limited("search", Limited(300), 1_000)
    assert left(next_process(budgets, 1_100, NOON, NOON), 5) == {"search": 200}
    assert left(next_process(budgets, 1_100, NOON, NOON + 50), 5) == {"search": 150}
    assert left(next_process(budgets, 1_100, NOON, NOON + 200), 5) == {}


def test_a_clock_that_was_set_back_makes_no_pause_longer() -> None:
    budgets = Budgets(NO_BUDGET, {})
    budgets.limited("search", Limited(300), 1_000)
    back = next_process(budgets, 1_100, NOON, NOON - 365 * 86_400)
    assert left(back, 5) == {"search": 200}
    assert left(next_process(back, 105, NOON - 365 * 86_400, NOON - 365 * 86_400), 5) == {"search": 100}


def test_a_service_that_goes_on_complaining_has_twice_the_pause_as_before() -> None:
    budgets = Budgets(NO_BUDGET, {})
    budgets.limited("search", Limited(), 0)
    budgets.limited("search", Limited(), 5)
    again = next_process(budgets, 6, NOON, NOON)
    assert left(again, 5) == {"search": 9}
    again.limited("search", Limited(), 14)
    assert left(again, 14) == {"search": 20}
    again.answered("search", OK, 40)
    assert next_process(again, 40, NOON, NOON).pauses(5) == Pauses(5)


@given(asked=st.floats(0, 1e7), kept_after=st.floats(0, 1e5), jump=st.floats(-1e9, 1e9), pause_s=st.floats(-1e9, 1e9))
def test_what_is_left_never_grows(asked: float, kept_after: float, jump: float, pause_s: float) -> None:
    budgets = Budgets(NO_BUDGET, {})
    budgets.limited("search", Limited(asked), 0)
    before = dict(budgets.closed(kept_after)).get("search", 0.0)
    after = dict(next_process(budgets, kept_after, NOON, NOON + jump).closed(5)).get("search", 0.0)
    assert after <= max(0.0, before - max(0.0, jump)) + 1e-3
    odd = Budgets(NO_BUDGET, {})
    odd.resume(Pauses(0, (Closed("search", 1e12, pause_s),)), 0)
    assert left(odd, 0) == {"search": 86_400}, "a file may say anything"


def test_a_shut_breaker_stays_shut_until_what_was_wasted_lapses() -> None:
    budgets = Budgets(WASTEFUL, {})
    budgets.wasted(11, 1_000)
    assert budgets.door(1_000) is Door.SHUT
    again = next_process(budgets, 1_010, NOON, NOON + 20, limits=WASTEFUL)
    assert again.door(5) is Door.SHUT
    assert again.door(5 + 29) is Door.SHUT
    assert again.door(5 + 30) is Door.AJAR
    assert again.door(5 + 90) is Door.OPEN


def test_it_stays_shut_until_it_is_calm_and_not_only_until_it_would_not_shut() -> None:
    budgets = Budgets(WASTEFUL, {})
    budgets.wasted(5, 1_000)
    budgets.wasted(6, 1_030)
    assert next_process(budgets, 1_061, NOON, NOON, limits=WASTEFUL).door(5) is Door.SHUT


def test_one_that_is_ajar_stays_so_for_the_rest_of_its_minute() -> None:
    budgets = Budgets(WASTEFUL, {})
    budgets.wasted(11, 1_000)
    assert budgets.door(1_060) is Door.AJAR
    again = next_process(budgets, 1_080, NOON, NOON + 10, limits=WASTEFUL)
    assert [again.door(5), again.door(34), again.door(35)] == [Door.AJAR, Door.AJAR, Door.OPEN]


@pytest.mark.parametrize("later", [61, 86_400])
@pytest.mark.parametrize("kept_at", [1_000, 1_060])
def test_it_is_open_after_a_minute_without_a_process(kept_at: float, later: float) -> None:
    budgets = Budgets(WASTEFUL, {})
    budgets.wasted(11, 1_000)
    assert budgets.door(kept_at) is not Door.OPEN
    assert next_process(budgets, kept_at, NOON, NOON + later, limits=WASTEFUL).door(5) is Door.OPEN


def test_what_was_wasted_just_before_counts_beside_what_is_wasted_now() -> None:
    budgets = Budgets(WASTEFUL, {})
    budgets.wasted(9, 1_000)
    again = next_process(budgets, 1_010, NOON, NOON, limits=WASTEFUL)
    again.wasted(2, 6)
    assert again.door(6) is Door.SHUT


def test_where_waste_is_not_bounded_none_is_resumed() -> None:
    budgets = Budgets(WASTEFUL, {})
    budgets.wasted(11, 1_000)
    assert next_process(budgets, 1_000, NOON, NOON).door(5) is Door.OPEN


def test_of_what_two_have_closed_the_longer_counts() -> None:
    own = Pauses(0, (Closed("a", 10, 5), Closed("b", 90, 40)))
    joined = own.beside((Closed("a", 70, 20), Closed("b", 20, 10), Closed("c", 5, 5)))
    assert {(one.tool, one.until) for one in joined.closed} == {("a", 70), ("b", 90), ("c", 5)}
