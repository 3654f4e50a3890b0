from paste_proxy.bench.account import Ask, ToolRun, settle
from paste_proxy.events.invocation import Invocation

A, B = Invocation("get_x", {"id": 1}), Invocation("get_x", {"id": 2})
WORLD_OF = {"s": "w", "t": "w", "u": "v"}


def ask(invocation: Invocation, asked: float, answered: float, session: str = "s") -> Ask:
    return Ask(session, invocation, asked, answered)


def run(invocation: Invocation, began: float, ended: float, world: str = "w", cancelled: bool = False) -> ToolRun:
    return ToolRun(world, invocation, began, ended, cancelled)


def test_a_run_within_the_wait_is_the_calls_own() -> None:
    account = settle([ask(A, 1, 3)], [run(A, 1.1, 3)], WORLD_OF)
    assert account.hits == ()
    assert account.wasted == ()


def test_a_run_that_began_before_the_call_is_a_hit_and_hides_what_had_passed() -> None:
    account = settle([ask(A, 1, 2)], [run(A, 0.25, 2)], WORLD_OF)
    assert [hit.hidden_s for hit in account.hits] == [0.75]
    assert account.wasted_s == 0


def test_a_finished_run_hides_no_more_than_it_took() -> None:
    account = settle([ask(A, 5, 5.1)], [run(A, 1, 3)], WORLD_OF)
    assert [hit.hidden_s for hit in account.hits] == [2]


def test_runs_nobody_asked_for_are_waste_cancelled_ones_for_what_they_ran() -> None:
    account = settle([ask(A, 1, 3)], [run(A, 1, 3), run(B, 0, 2), run(B, 2, 2.5, cancelled=True)], WORLD_OF)
    assert account.wasted_s == 2.5


def test_a_run_ahead_that_was_not_used_is_waste_and_no_hit() -> None:
    account = settle([ask(A, 2, 4)], [run(A, 0, 1), run(A, 2, 4)], WORLD_OF)
    assert account.hits == ()
    assert account.wasted_s == 1


def test_one_run_answers_one_call_and_worlds_do_not_mix() -> None:
    account = settle([ask(A, 2, 2.1), ask(A, 2.2, 2.3, "t")], [run(A, 0, 1)], WORLD_OF)
    assert len(account.hits) == 1
    assert settle([ask(A, 2, 2.1, "u")], [run(A, 0, 1)], WORLD_OF).hits == ()


def test_a_cancelled_run_answers_nothing() -> None:
    assert settle([ask(A, 2, 2.1)], [run(A, 0, 1, cancelled=True)], WORLD_OF).hits == ()


def test_a_run_still_going_when_the_call_was_answered_did_not_answer_it() -> None:
    account = settle([ask(A, 2, 3)], [run(A, 1, 5)], WORLD_OF)
    assert account.hits == ()
    assert account.wasted_s == 4
