"""What running ahead may cost: refusals as conversations, and what the sums say."""

import pytest

from paste_proxy.events.candidate import SEALED
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.budgets.budgets import BudgetLimits, Span, Use
from paste_proxy.speculation.types import CallEnded, JobEnded, Mode, SessionEnded, Tick, Today

from ..playbook import RULES, Playbook, asked, broke, done, guess, limits, predicted

METERED = """
[[rule]]
tool = "news_*"
effect = "read"
calls_per_minute = 2
cost = 0.3

[[rule]]
tool = "map_*"
effect = "read"
calls_per_session = 1
calls_per_day = 2

[[rule]]
tool = "slow_api"
effect = "read"
rate_limit = 8
slack = 0.5
"""


def metered(budget: BudgetLimits | None = None, mode: Mode = Mode.SPECULATE, slots: int = 16) -> Playbook:
    return Playbook(
        limits(slots=slots), mode, budget=budget or BudgetLimits(), rules=METERED + RULES.partition("\n\n")[2]
    )


def used(tell: Playbook, name: str, now: float) -> float:
    return next(use.used for use in tell.scheduler.budgets.uses(now) if use.name == name)


def test_a_rules_calls_of_a_minute_are_bounded_over_all_its_tools() -> None:
    tell = metered()
    assert tell(0, predicted("news_a 1", "news_b 1", "news_a 2")) == [
        "launch 1 news_a",
        "launch 2 news_b",
        "refused news_a: calls",
    ]
    assert tell(59, predicted("news_a 3")) == ["refused news_a: calls"]
    assert tell(60, predicted("news_a 3"))[-1] == "launch 3 news_a"


def test_the_agents_own_calls_neither_count_nor_wait() -> None:
    tell = metered(BudgetLimits(calls_per_minute=1))
    for call in range(1, 5):
        assert tell(0, asked(call, f"news_a {call}")) == [f"run {call}"]
    assert tell(1, predicted("news_a 9", "get_item 9")) == ["launch 1 news_a", "refused get_item: calls"]
    assert tell(2, asked(8, "get_item 9")) == ["run 8"]


def test_a_session_has_its_own_share_and_a_day_its_own() -> None:
    tell = metered()
    assert tell(0, predicted("map_a 1", "map_a 2")) == ["launch 1 map_a", "refused map_a: calls"]
    assert tell(1, SessionEnded(session="s")) == ["cancel 1", "1 discarded, ran 1, saved 0"]
    assert tell(1, predicted("map_a 2")) == ["refused map_a: calls"]
    assert tell(2, predicted("map_a 1", session="t")) == ["launch 2 map_a"]
    assert tell(3, predicted("map_a 1", session="u")) == ["refused map_a: calls"]


def test_a_new_day_gives_a_new_budget_and_sessions_keep_theirs() -> None:
    tell = metered(BudgetLimits(calls_per_day=1))
    tell(0, Today("2026-03-01"))
    assert tell(0, predicted("map_a 1", "get_item 1")) == ["launch 1 map_a", "refused get_item: calls"]
    tell(30, Today("2026-03-01"))
    assert tell(30, predicted("get_item 1")) == ["refused get_item: calls"]
    tell(40, Today("2026-03-02"))
    assert tell(40, predicted("map_a 2", "get_item 1")) == ["refused map_a: calls", "launch 2 get_item"]


def test_a_clock_set_forth_and_back_gives_nothing_away() -> None:
    tell = metered(BudgetLimits(calls_per_day=1))
    tell(0, Today("2026-03-01"))
    tell(0, predicted("get_item 1"))
    tell(10, Today("2026-02-28"))
    assert tell(10, predicted("get_item 2")) == ["refused get_item: calls"]
    tell(20, Today("2031-01-01"))
    assert tell(20, predicted("get_item 2")) == ["launch 2 get_item"]
    tell(30, Today("2026-03-01"))
    tell(40, Today("2026-03-02"))
    assert tell(40, predicted("get_item 3")) == ["refused get_item: calls"]
    tell(43_300, Today("2026-03-02"))
    assert tell(43_300, predicted("get_item 3"))[-1] == "launch 3 get_item"


def test_money_is_counted_by_what_a_call_costs() -> None:
    tell = metered(BudgetLimits(money_per_session=0.5, money_per_day=0.6))
    assert tell(0, predicted("news_a 1", "news_a 2", "get_item 1")) == [
        "launch 1 news_a",
        "refused news_a: money",
        "launch 2 get_item",
    ]
    assert tell(1, predicted("news_a 1", session="t")) == ["launch 3 news_a"]
    assert tell(61, predicted("news_a 1", session="u"))[-1] == "refused news_a: money"
    assert used(tell, "budget.money_per_day", 61) == pytest.approx(0.6)


def test_bytes_and_cpu_seconds_count_as_results_come() -> None:
    tell = metered(BudgetLimits(bytes_per_day=10, cpu_s_per_day=2.0))
    tell(0, predicted("get_item 1", "get_item 2"))
    tell(1, JobEnded(job=1, result=ToolResult(body=b"12345", cpu_s=1.5)))
    assert tell(2, predicted("get_item 3")) == ["launch 3 get_item"]
    tell(3, JobEnded(job=2, result=ToolResult(body=b"12345", cpu_s=0.1)))
    assert tell(3, predicted("get_item 4")) == ["refused get_item: bytes"]
    assert (used(tell, "budget.bytes_per_day", 3), used(tell, "budget.cpu_s_per_day", 3)) == (10, 1.6)
    tell = metered(BudgetLimits(cpu_s_per_day=2.0))
    tell(0, predicted("get_item 1"))
    tell(1, JobEnded(job=1, result=ToolResult(body=b"12345", cpu_s=2.0)))
    assert tell(2, predicted("get_item 2")) == ["refused get_item: cpu"]


def test_guesses_use_their_share_of_what_the_agent_leaves_of_a_rate() -> None:
    tell = metered()
    assert [tell(0, predicted(f"slow_api {number}"))[0].partition(" ")[0] for number in range(6)] == [
        *["launch"] * 4,
        *["refused"] * 2,
    ]
    tell = metered()
    for call in range(4):
        tell(0, asked(call, f"slow_api {call}"))
    assert tell(1, predicted("slow_api 7", "slow_api 8", "slow_api 9")) == [
        "launch 1 slow_api",
        "launch 2 slow_api",
        "refused slow_api: rate",
    ]
    for call in range(14, 22):
        assert tell(2, asked(call, f"slow_api {call}")) == [f"run {call}"]
    assert tell(59, predicted("slow_api 9")) == ["refused slow_api: rate"]


def test_a_promoted_job_is_one_call_and_one_that_breaks_is_two() -> None:
    tell = metered()
    tell(0, predicted("slow_api 1"))
    assert tell(1, asked(7, "slow_api 1")) == ["promote 1 for 7"]
    assert used(tell, "rate_limit of test: rule 3", 1) == 1
    assert tell(2, broke(1))[0] == "run 7"
    assert used(tell, "rate_limit of test: rule 3", 2) == 2


def test_too_much_in_vain_closes_all_but_sealed_calls_until_it_has_calmed() -> None:
    tell = metered(BudgetLimits(wasted_s_per_minute=10))
    tell(0, predicted("web_page 1", "web_page 2"))
    assert tell(10, Tick()) == [
        "cancel 1",
        "1 discarded, ran 10, saved 0",
        "cancel 2",
        "2 discarded, ran 10, saved 0",
    ]
    assert tell(11, predicted("get_item 1")) == ["refused get_item: waste"]
    assert tell(11, predicted(guess("get_item 2", 1.0, SEALED))) == ["launch 3 get_item"]
    assert tell(12, asked(1, "get_item 1")) == ["run 1"]
    tell(13, done(3))
    assert tell(69, predicted("get_item 3")) == ["refused get_item: waste"]
    assert tell(70, predicted("get_item 3", "get_item 4", "get_item 5"))[-3:] == [
        "launch 4 get_item",
        "launch 5 get_item",
        "refused get_item: waste",
    ]
    for job in (4, 5):
        tell(72, done(job))
        assert tell(73, asked(job, f"get_item {job - 1}"))[0].startswith(f"serve {job}")
    assert tell(140, predicted("get_item 6", "get_item 7", "get_item 8")) == [
        f"launch {job} get_item" for job in (6, 7, 8)
    ]


def test_while_it_is_ajar_half_as_much_in_vain_shuts_it_again() -> None:
    tell = metered(BudgetLimits(wasted_s_per_minute=10))
    tell(0, predicted("web_page 1", "web_page 2"))
    tell(10, Tick())
    assert tell(70, predicted("get_item 1"))[-1] == "launch 3 get_item"
    assert tell(76, broke(3)) == ["3 discarded, ran 6, saved 0"]
    assert tell(77, predicted("get_item 2")) == ["refused get_item: waste"]
    assert tell(136, predicted("get_item 2")) == ["launch 4 get_item"]


@pytest.mark.parametrize("agents", [True, False])
def test_a_service_that_wants_fewer_calls_gets_none_ahead_twice_as_long_each_time(agents: bool) -> None:
    tell = metered()
    busy = ToolResult(body=b"slow down", status=Status.ERROR, http_status=429)

    def limited(at: float, number: int) -> None:
        if agents:
            assert tell(at, asked(number, f"get_item {number}")) == [f"run {number}"]
            tell(at, CallEnded(call=number, status=Status.ERROR, result=busy))
        else:
            (launch,) = tell(at, predicted(f"get_item {number}"))
            tell(at, JobEnded(job=int(launch.split()[1]), result=busy))

    limited(0, 1)
    assert tell(4, predicted("get_item 9")) == ["refused get_item: backoff"]
    limited(5, 2)
    assert tell(14.9, predicted("get_item 9")) == ["refused get_item: backoff"]
    limited(15, 3)
    assert tell(34.9, predicted("get_item 9")) == ["refused get_item: backoff"]
    tell(35, asked(50, "get_item 4"))
    tell(37, CallEnded(call=50, status=Status.OK, result=ToolResult(body=b"")))
    assert tell(37, predicted("get_item 9"))[0].startswith("launch")
    limited(38, 55)
    assert tell(43, predicted("get_item 10"))[-1].startswith("launch"), "once it was fine, it is as at first"


def test_it_is_left_alone_no_shorter_than_it_asks_for() -> None:
    tell = metered()
    tell(0, asked(1, "get_item 1"))
    tell(0, asked(2, "get_item 2"))
    busy = ToolResult(body=b"", status=Status.ERROR, http_status=429, retry_after_s=90)
    tell(1, CallEnded(call=1, status=Status.ERROR, result=busy))
    tell(2, CallEnded(call=2, status=Status.OK, result=ToolResult(body=b"sent before")))
    assert tell(90, predicted("get_item 3")) == ["refused get_item: backoff"]
    assert tell(91, predicted("get_item 3")) == ["launch 1 get_item"]


def test_a_fault_that_says_so_counts_too() -> None:
    tell = metered()
    tell(0, predicted("get_item 1"))
    tell(1, JobEnded(job=1, result=None, retry_after_s=0))
    assert tell(5, predicted("get_item 2")) == ["refused get_item: backoff"]
    assert tell.scheduler.budgets.closed(5) == [("get_item", 1.0)]


def test_where_nothing_runs_budgets_are_accounted_for_apart() -> None:
    tell = metered(mode=Mode.OBSERVE)
    assert tell(0, predicted("news_a 1", "news_a 2", "news_a 3")) == ["refused news_a: calls"]
    assert used(tell, "calls_per_minute of test: rule 1", 0) == 0


def test_a_budget_refuses_before_it_makes_room() -> None:
    tell = metered(BudgetLimits(calls_per_minute=1), slots=1)
    assert tell(0, predicted(guess("get_item 1", 0.3))) == ["launch 1 get_item"]
    assert tell(1, predicted(guess("get_item 2", 0.9))) == ["refused get_item: calls"]


def test_what_is_used_is_told_by_name() -> None:
    tell = metered(BudgetLimits(calls_per_day=5, wasted_s_per_minute=9))
    tell(0, predicted("news_a 1", "map_a 1"))
    assert tell.scheduler.budgets.uses(1) == [
        Use("budget.calls_per_day", 2, 5, Span.DAY),
        Use("calls_per_minute of test: rule 1", 1, 2, Span.MINUTE),
        Use("calls_per_day of test: rule 2", 1, 2, Span.DAY),
        Use("rate_limit of test: rule 3", 0, 8, Span.MINUTE),
        Use("budget.wasted_s_per_minute", 0, 9, Span.MINUTE),
    ]
