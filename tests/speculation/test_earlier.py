"""The scheduler's conversations about an answer that serves the same call again."""

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.ledger import Ledger
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import CallEnded, Mode, SessionEnded, Tick

from .playbook import Playbook, asked, done, limits, over, predicted


def answered(call: int, body: str, status: Status = Status.OK) -> CallEnded:
    return CallEnded(call=call, status=status, result=ToolResult(body=body.encode(), status=status))


def test_what_was_paid_for_is_not_paid_for_again() -> None:
    tell = Playbook()
    assert tell(0, asked(7, "paid_search 1")) == ["run 7"]
    assert tell(3, answered(7, "found")) == []
    assert tell(5, asked(8, "paid_search 1")) == ["serve 8 from 2: found", "2 reused, ran 0, saved 3"]
    assert tell(6, asked(9, "paid_search 1")) == ["serve 9 from 3: found", "3 reused, ran 0, saved 3"]
    assert tell(6, predicted("paid_search 1")) == ["refused paid_search: duplicate"]


def test_it_is_over_after_its_time_or_with_its_session() -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    tell(3, answered(7, "found"))
    assert tell(103, Tick()) == []
    assert tell(103, asked(8, "paid_search 1")) == ["run 8"]
    tell(104, answered(8, "found"))
    assert tell(105, SessionEnded(session="s")) == []
    assert tell(106, asked(9, "paid_search 1")) == ["run 9"]


def test_it_is_for_its_own_session_and_scope() -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    tell(3, answered(7, "found"))
    assert tell(4, asked(8, "paid_search 1", session="t")) == ["run 8"]
    assert tell(4, asked(9, "paid_search 1", scope="other")) == ["run 9"]


def test_a_write_to_what_it_reads_ends_it() -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    tell(3, answered(7, "found"))
    assert tell(4, asked(8, "set_item 1")) == ["run 8"]
    tell(5, over(8))
    assert tell(6, asked(9, "paid_search 1")) == ["run 9"]


def test_a_write_while_it_ran_makes_it_nobody_elses() -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    tell(1, asked(8, "set_item 1"))
    tell(2, over(8))
    assert tell(2, asked(9, "paid_search 1")) == ["run 9"]
    tell(3, answered(7, "found"))
    assert tell(3, asked(10, "paid_search 1")) == ["run 10"]


@pytest.mark.parametrize("end", [answered(7, "down", Status.ERROR), over(7, None), over(7)])
def test_an_error_or_a_cut_serves_nobody(end: CallEnded) -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    assert tell(1, asked(8, "paid_search 1")) == []
    assert tell(3, end) == ["run 8"]
    tell(4, answered(8, "found"))
    assert tell(5, asked(9, "paid_search 1"))[0] == "serve 9 from 2: found"


def test_one_that_runs_answers_those_that_wait_for_it() -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    assert tell(1, asked(8, "paid_search 1")) == []
    assert tell(2, asked(9, "paid_search 1")) == []
    assert tell(3, answered(7, "found")) == [
        "serve 8 from 2: found",
        "2 reused, ran 0, saved 1",
        "serve 9 from 3: found",
        "3 reused, ran 0, saved 2",
    ]


def test_one_that_waits_may_give_up() -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    tell(1, asked(8, "paid_search 1"))
    assert tell(2, over(8, None)) == []
    assert tell(3, answered(7, "found")) == []


def test_when_the_first_gives_up_the_others_follow_the_next() -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    tell(1, asked(8, "paid_search 1"))
    tell(1, asked(9, "paid_search 1"))
    assert tell(2, over(7, None)) == ["run 8"]
    assert tell(4, answered(8, "found"))[0] == "serve 9 from 2: found"


def test_what_a_guess_was_served_serves_again_too() -> None:
    tell = Playbook()
    tell(0, predicted("paid_search 1"))
    tell(2, done(1, "found"))
    assert tell(3, asked(7, "paid_search 1")) == ["serve 7 from 1: found", "1 reused, ran 2, saved 2"]
    assert tell(4, asked(8, "paid_search 1")) == ["serve 8 from 3: found", "3 reused, ran 0, saved 2"]
    tell(5, predicted("paid_search 2"))
    tell(6, asked(9, "paid_search 2"))
    assert tell(8, done(4, "found"))[0] == "serve 9 from 4: found"
    assert tell(9, asked(10, "paid_search 2")) == ["serve 10 from 6: found", "6 reused, ran 0, saved 3"]


def test_a_large_answer_serves_those_that_wait_and_is_not_kept() -> None:
    tell = Playbook()
    tell(0, asked(7, "paid_search 1"))
    tell(1, asked(8, "paid_search 1"))
    assert tell(2, answered(7, "x" * 101))[0].startswith("serve 8 from 2: xxx")
    assert tell(3, asked(9, "paid_search 1")) == ["run 9"]


def test_answers_are_held_within_the_bounds_of_all_results() -> None:
    tell = Playbook(limits(held_results=2))
    for number in range(3):
        tell(number, asked(number, f"paid_search {number}"))
        tell(number + 0.5, answered(number, "found"))
    assert tell(4, asked(9, "paid_search 0")) == ["run 9"]
    assert tell(4, asked(10, "paid_search 2"))[0] == "serve 10 from 4: found"
    ledger: Ledger = tell.scheduler._state.ledger
    assert len(ledger.unpromoted()) == 2


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.OBSERVE])
def test_without_speculation_every_call_is_run(mode: Mode) -> None:
    tell = Playbook(mode=mode)
    tell(0, asked(7, "paid_search 1"))
    assert tell(1, asked(8, "paid_search 1")) == ["run 8"]
    tell(2, answered(7, "found"))
    assert tell(3, asked(9, "paid_search 1")) == ["run 9"]


def test_a_write_is_never_served_again() -> None:
    with pytest.raises(InputFault, match="reuse_s: 5 for a write"):
        Policy.parse('[[rule]]\ntool = "buy"\neffect = "write"\nreuse_s = 5\n', "policy.toml")


def test_an_answer_begun_while_a_write_was_on_its_way_is_nobody_elses() -> None:
    tell = Playbook()
    tell(0, asked(6, "set_item 1"))
    tell(1, over(6, None))
    assert tell(2, asked(7, "paid_search 1")) == ["run 7"]
    assert tell(3, asked(8, "paid_search 1")) == ["run 8"]
    tell(4, answered(7, "found"))
    assert tell(5, asked(9, "paid_search 1")) == ["run 9"]
