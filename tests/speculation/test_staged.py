"""The scheduler's conversations about staged jobs: held back until a call takes them, and all or nothing then."""

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import (
    Committed,
    EffectBegan,
    EffectEnded,
    JobEnded,
    Mode,
    Serve,
    SessionEnded,
    Settled,
    Tick,
)

from .playbook import Playbook, asked, broke, call_of, committed, done, limits, over, predicted, wrote


def held(job: int, cpu_s: float | None = None) -> JobEnded:
    """A run at the lowest priority has ended, its effects held back."""
    return JobEnded(job=job, result=ToolResult(body=b"built", cpu_s=cpu_s), aside=True)


def test_a_finished_run_is_committed_before_its_call_is_served() -> None:
    tell = Playbook()
    assert tell(0, predicted("make_all 1")) == ["stage 1 make_all"]
    assert tell(9, done(1, "built")) == []
    assert tell(10, asked(7, "make_all 1")) == ["commit 1 for 7"]
    assert tell(10.25, committed(1)) == ["serve 7 from 1: built", "1 reused, ran 9, saved 8.75"]


def test_a_running_one_is_promoted_then_committed() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    assert tell(5, asked(7, "make_all 1")) == ["promote 1 for 7"]
    assert tell(9, done(1, "built")) == ["commit 1 for 7"]
    assert tell(9.5, committed(1)) == ["serve 7 from 1: built", "1 promoted, ran 9, saved 4.5"]


def test_it_has_saved_no_more_than_the_same_call_took_the_agent() -> None:
    tell = Playbook()
    tell(0, asked(1, "make_all 1"))
    tell(2, over(1))
    assert tell(3, predicted("make_all 1")) == ["stage 1 make_all"]
    tell(43, held(1, cpu_s=1.5))
    assert tell(44, asked(2, "make_all 1")) == ["commit 1 for 2"]
    assert tell(44.5, committed(1))[-1] == "1 reused, ran 40, saved 1.5"


def test_the_agent_and_the_record_are_told_what_it_would_have_taken() -> None:
    tell = Playbook()
    tell(0, asked(1, "make_all 1"))
    tell(2, over(1))
    tell(3, predicted("make_all 1"))
    tell(43, held(1))
    tell(44, asked(2, "make_all 1"))
    serve, account = tell.scheduler.step(committed(1), 44.5)
    assert isinstance(serve, Serve)
    assert isinstance(account, Settled)
    assert (serve.took_s, account.ran_s, account.saved_s) == (2, 40, 1.5)


@pytest.mark.parametrize(("cpu_s", "saved"), [(None, 2), (1, 2), (5, 5), (90, 40)])
def test_of_another_call_of_its_tool_it_is_known_how_long_they_usually_take(cpu_s: float | None, saved: int) -> None:
    tell = Playbook()
    tell(0, asked(1, "make_all other"))
    tell(2, over(1))
    tell(3, predicted("make_all 1"))
    tell(43, held(1, cpu_s))
    tell(44, asked(2, "make_all 1"))
    assert tell(44, committed(1))[-1] == f"1 reused, ran 40, saved {saved}"


def test_a_run_at_the_lowest_priority_does_not_tell_how_long_its_tool_takes() -> None:
    tell = Playbook()
    tell(0, asked(1, "make_all other"))
    tell(2, over(1))
    for at, job in ((10, 1), (110, 2)):
        tell(at, predicted("make_all 1"))
        tell(at + 40, held(job))
        tell(at + 41, asked(job + 1, "make_all 1"))
        assert tell(at + 41, committed(job))[-1] == f"{job} reused, ran 40, saved 2"


@pytest.mark.parametrize(("cpu_s", "saved"), [(None, 40), (5, 5)])
def test_of_a_tool_that_no_agent_has_run_it_has_saved_its_time_on_a_core(cpu_s: float | None, saved: int) -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(40, held(1, cpu_s))
    tell(41, asked(2, "make_all 1"))
    assert tell(41, committed(1))[-1] == f"1 reused, ran 40, saved {saved}"


def test_a_promoted_one_has_saved_what_the_agent_did_not_wait() -> None:
    tell = Playbook()
    tell(0, asked(1, "make_all 1"))
    tell(10, over(1))
    tell(11, predicted("make_all 1", "make_all 2"))
    assert tell(30, asked(2, "make_all 1")) == ["promote 1 for 2"]
    tell(36, held(1))
    assert tell(36.5, committed(1, changed=False))[-1] == "1 promoted, ran 25, saved 3.5"
    assert tell(37, asked(3, "make_all 2")) == ["promote 2 for 3"]
    tell(60, held(2))
    assert tell(60, committed(2))[-1] == "2 promoted, ran 49, saved 0"


def test_effects_that_cannot_happen_leave_the_call_to_be_run() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(9, done(1, "built"))
    tell(10, asked(7, "make_all 1"))
    assert tell(10.5, committed(1, happened=False)) == ["run 7", "cancel 1", "1 discarded, ran 9, saved 0"]
    assert tell(20, over(7)) == []


def test_a_commit_that_is_not_finished_is_told_to_the_call_which_is_not_run() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(9, done(1, "built"))
    tell(10, asked(7, "make_all 1"))
    half = Committed(job=1, done=True, instead=ToolResult(body=b"half", status=Status.ERROR))
    assert tell(10.5, half)[0] == "serve 7 from 1: half"
    assert tell(11, predicted("make_all 1"))[0].startswith("stage 2")


def test_a_promoted_one_whose_effects_cannot_happen_keeps_its_slot_for_the_call() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(5, asked(7, "make_all 1"))
    tell(9, done(1, "built"))
    assert tell(9.5, committed(1, happened=False)) == ["run 7", "cancel 1", "1 discarded, ran 9, saved 0"]


def test_what_is_held_back_is_let_go_when_it_is_not_wanted() -> None:
    tell = Playbook(limits(ttl_s=30))
    tell(0, predicted("make_all 1"))
    tell(9, done(1, "built"))
    assert tell(30, Tick()) == ["cancel 1", "1 discarded, ran 9, saved 0"]
    tell(31, predicted("make_all 2"))
    tell(32, done(2, "built"))
    assert tell(33, SessionEnded(session="s")) == ["cancel 2", "2 discarded, ran 1, saved 0"]


def test_an_error_is_not_kept_and_not_committed() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    assert tell(1, done(1, "no shell", Status.ERROR)) == ["cancel 1", "1 discarded, ran 1, saved 0"]
    tell(2, predicted("make_all 1"))
    tell(3, asked(7, "make_all 1"))
    assert tell(4, done(2, "no shell", Status.ERROR)) == ["run 7", "cancel 2", "2 discarded, ran 2, saved 0"]
    tell(5, predicted("make_all 2"))


def test_a_fault_of_a_promoted_one_leaves_the_call_to_be_run() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(1, asked(7, "make_all 1"))
    assert tell(2, broke(1)) == ["run 7", "cancel 1", "1 discarded, ran 2, saved 0"]


def test_a_write_to_what_it_reads_or_writes_voids_it() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    assert tell(1, asked(7, "set_item 1")) == ["cancel 1", "1 discarded, ran 1, saved 0", "run 7"]
    assert tell(2, predicted("make_all 1")) == ["refused make_all: write_in_flight"]
    assert tell(3, over(7)) == ["stage 2 make_all"]


def test_its_commit_is_a_write_to_others() -> None:
    tell = Playbook()
    assert tell(0, predicted("make_all 1", "make_all 2", "get_item 1")) == [
        "stage 1 make_all",
        "stage 2 make_all",
        "launch 3 get_item",
    ]
    tell(1, done(1, "built"))
    tell(2, done(2, "built"))
    tell(3, done(3, "apple"))
    assert tell(4, asked(7, "make_all 1")) == ["commit 1 for 7", "3 discarded, ran 3, saved 0"]
    assert tell(4.5, predicted("get_item 2")) == ["refused get_item: write_in_flight"]
    assert tell(5, committed(1)) == [
        "cancel 2",
        "2 discarded, ran 2, saved 0",
        "serve 7 from 1: built",
        "1 reused, ran 1, saved 0",
        "launch 4 get_item",
    ]


def test_a_commit_that_changes_nothing_leaves_the_others_as_they_are() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1", "make_all 2"))
    tell(1, done(1, "built"))
    assert tell(2, asked(7, "make_all 1")) == ["commit 1 for 7"]
    assert tell(2.5, committed(1, changed=False))[0] == "serve 7 from 1: built"
    assert tell(3, asked(8, "make_all 2")) == ["promote 2 for 8"]


def test_one_runs_while_an_agent_waits_for_another() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    assert tell(1, asked(7, "make_all 1")) == ["promote 1 for 7"]
    assert tell(2, predicted("make_all 2")) == ["stage 2 make_all"]
    assert tell(3, done(1, "built")) == ["commit 1 for 7"]
    assert tell(4, committed(1, changed=False))[0] == "serve 7 from 1: built"
    assert tell(5, done(2, "built")) == []
    assert tell(6, asked(8, "make_all 2")) == ["commit 2 for 8"]


def test_one_that_is_asked_for_while_another_is_committed_is_run() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1", "make_all 2"))
    tell(1, done(1, "built"))
    tell(2, done(2, "built"))
    assert tell(3, asked(7, "make_all 1")) == ["commit 1 for 7"]
    assert tell(3.1, asked(8, "make_all 2")) == ["cancel 2", "2 discarded, ran 2, saved 0", "run 8"]


def test_a_run_that_its_job_could_not_answer_is_a_write_like_any_other() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1", "make_all 2", "get_item 1"))
    tell(1, done(1, "built"))
    tell(2, asked(7, "make_all 1"))
    assert "cancel 2" in tell(3, committed(1, happened=False))
    assert tell(4, predicted("get_item 2", "make_all 3")) == [
        "refused get_item: write_in_flight",
        "refused make_all: write_in_flight",
    ]
    assert sorted(tell(5, over(7))) == ["launch 4 get_item", "stage 5 make_all"]


def test_a_second_equal_call_is_run() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(1, done(1, "built"))
    assert tell(2, asked(7, "make_all 1")) == ["commit 1 for 7"]
    assert tell(2, asked(8, "make_all 1")) == ["run 8"]


def test_effects_that_happen_happen_though_the_agent_has_gone() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(1, done(1, "built"))
    tell(2, asked(7, "make_all 1"))
    assert tell(2.1, over(7, None)) == []
    assert tell(2.2, predicted("get_item 1")) == ["refused get_item: write_in_flight"]
    assert tell(2.5, committed(1)) == ["serve 7 from 1: built", "1 reused, ran 1, saved 0.5", "launch 2 get_item"]


def test_a_call_given_up_is_not_run_when_its_effects_cannot_happen() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(1, asked(7, "make_all 1"))
    tell(2, done(1, "built"))
    tell(3, over(7, None))
    assert tell(4, committed(1, happened=False)) == ["cancel 1", "1 discarded, ran 2, saved 0"]
    assert tell(5, predicted("get_item 1")) == ["launch 2 get_item"]


def test_a_promoted_one_that_is_given_up_is_let_go() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(1, asked(7, "make_all 1"))
    assert tell(2, over(7, None)) == ["cancel 1", "1 discarded, ran 2, saved 0"]


def test_a_commit_told_twice_or_of_no_job_changes_nothing() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    tell(1, done(1, "built"))
    assert tell(1.5, committed(1)) == []
    tell(2, asked(7, "make_all 1"))
    tell(3, committed(1))
    assert tell(4, committed(1)) == tell(4, committed(99)) == []


def test_in_observe_mode_it_is_accounted_for_and_the_call_is_run() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    assert tell(0, predicted("make_all 1")) == []
    assert tell(5, asked(7, "make_all 1")) == ["run 7"]
    assert tell(9, over(7)) == ["shadow 1 reused, ran 4, saved 4"]


def test_a_call_that_is_sealed_in_the_stream_is_staged() -> None:
    tell = Playbook()
    assert tell(0, wrote("make_all 1", predicted("make_all 1"))) == ["stage 1 make_all"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('effect = "read"\nstage = true', "stage: true for a read"),
        ('effect = "write"\nspeculate = true', "stage = true"),
        ('effect = "write"\nstage = 1', "stage: 1"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: str, said: str) -> None:
    with pytest.raises(InputFault, match=said):
        Policy.parse(f'[[rule]]\ntool = "make"\n{rule}\n', "policy.toml")


def test_a_call_in_the_stream_that_may_be_ours_leaves_its_job_as_it_is() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1", "get_item 1"))
    tell(1, done(1, "built"))
    stands = EffectBegan(session="s", call_id="c", invocation=call_of("make_all 1"), held=True)
    assert tell(2, stands) == ["cancel 2", "2 discarded, ran 2, saved 0"], "reads are void"
    assert tell(3, asked(7, "make_all 1")) == ["commit 1 for 7"]
    assert tell(3, EffectEnded(session="s", call_id="c")) == []
    assert tell(4, committed(1))[0] == "serve 7 from 1: built"


def test_a_call_in_the_stream_that_cannot_be_ours_voids_it() -> None:
    tell = Playbook()
    tell(0, predicted("make_all 1"))
    stands = EffectBegan(session="s", call_id="c", invocation=call_of("make_all 1"))
    assert tell(1, stands) == ["cancel 1", "1 discarded, ran 1, saved 0"]
