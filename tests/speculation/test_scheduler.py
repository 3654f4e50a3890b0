"""The scheduler's conversations: reuse, promotion, misses, effects, sessions, time."""

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.effects import ABANDONED_S
from paste_proxy.speculation.outside import OPEN_CALLS
from paste_proxy.speculation.types import JobEnded, JobSent, JobWaits, Mode, ObservationLost, SessionEnded, Tick

from .playbook import (
    Playbook,
    asked,
    broke,
    call_of,
    done,
    guess,
    limits,
    native_began,
    native_ended,
    over,
    predicted,
    reachable,
)


def test_a_finished_match_is_reused_and_saves_the_time_it_ran() -> None:
    tell = Playbook()
    assert tell(0, predicted("get_item 1")) == ["launch 1 get_item"]
    assert tell(2, done(1, "apple")) == []
    assert tell(5, asked(7, "get_item 1")) == ["serve 7 from 1: apple", "1 reused, ran 2, saved 2"]


def test_a_running_match_is_promoted_and_saves_its_head_start() -> None:
    tell = Playbook()
    assert tell(0, predicted("get_item 1")) == ["launch 1 get_item"]
    assert tell(3, asked(7, "get_item 1")) == ["promote 1 for 7"]
    assert tell(4, done(1, "apple")) == ["serve 7 from 1: apple", "1 promoted, ran 4, saved 3"]


def test_a_promoted_jobs_error_is_the_agents() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(3, asked(7, "get_item 1"))
    assert tell(4, done(1, "no such item", Status.ERROR)) == [
        "serve 7 from 1: no such item",
        "1 promoted, ran 4, saved 3",
    ]


def test_a_promoted_job_that_breaks_is_replaced_by_the_call_itself() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(3, asked(7, "get_item 1"))
    assert tell(4, broke(1)) == ["run 7", "1 discarded, ran 4, saved 0"]
    assert tell(5, over(7)) == []


def test_a_miss_runs_at_once_and_the_wrong_job_goes_on_until_it_expires() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    assert tell(1, asked(7, "get_item 2")) == ["run 7"]
    assert tell(2, done(1)) == []
    assert tell.scheduler.next_deadline() == 60
    assert tell(60, Tick()) == ["1 discarded, ran 2, saved 0"]
    assert tell.scheduler.next_deadline() is None


def test_a_job_unasked_at_its_time_is_cancelled() -> None:
    tell = Playbook()
    assert tell(0, predicted("web_page 1")) == ["launch 1 web_page"]
    assert tell(10, asked(7, "web_page 1")) == ["cancel 1", "1 discarded, ran 10, saved 0", "run 7"]


def test_a_result_serves_one_call_only() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(1, done(1, "apple"))
    assert tell(2, asked(7, "get_item 1"))[0] == "serve 7 from 1: apple"
    assert tell(2, asked(8, "get_item 1")) == ["run 8"]


def test_two_equal_calls_at_once_share_no_job() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    assert tell(1, asked(7, "get_item 1")) == ["promote 1 for 7"]
    assert tell(1, asked(8, "get_item 1")) == ["run 8"]


def test_results_do_not_cross_sessions_or_scopes() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1", session="s", scope="left"))
    tell(1, done(1))
    assert tell(2, asked(7, "get_item 1", session="t", scope="left")) == ["run 7"]
    assert tell(2, asked(8, "get_item 1", session="s", scope="right")) == ["run 8"]
    assert tell(2, asked(9, "get_item 1", session="s", scope="left"))[0].startswith("serve 9")


def test_errors_faults_and_big_results_are_not_kept() -> None:
    for end in (done(1, "no", Status.ERROR), broke(1), done(1, "x" * 101)):
        tell = Playbook()
        tell(0, predicted("get_item 1"))
        assert tell(1, end) == ["1 discarded, ran 1, saved 0"]
        assert tell(2, asked(7, "get_item 1")) == ["run 7"]


def test_the_end_of_a_cancelled_job_says_nothing_more() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    assert tell(1, SessionEnded(session="s")) == ["cancel 1", "1 discarded, ran 1, saved 0"]
    assert tell(2, broke(1)) == []
    assert tell(2, done(1)) == []


def test_an_unknown_tool_a_write_and_a_costly_read_are_never_run_ahead() -> None:
    tell = Playbook()
    assert tell(0, predicted("mystery", "set_item 1", "costly_search x", guess("set_item 2", 1.0, "sealed"))) == [
        "refused mystery: policy",
        "refused set_item: policy",
        "refused costly_search: policy",
        "refused set_item: policy",
    ]


def test_a_write_voids_what_read_its_domain_when_it_starts() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1", "get_item 2", "web_page 1"))
    tell(1, done(1))
    assert tell(2, asked(7, "set_item 1")) == [
        "1 discarded, ran 1, saved 0",
        "cancel 2",
        "2 discarded, ran 2, saved 0",
        "run 7",
    ]
    assert tell(3, asked(8, "web_page 1")) == ["promote 3 for 8"]


def test_nothing_that_reads_a_domain_starts_while_a_write_of_it_is_on_its_way() -> None:
    tell = Playbook()
    tell(0, asked(7, "set_item 1"))
    assert tell(1, predicted("get_item 1", "sum 1")) == ["refused get_item: write_in_flight", "launch 1 sum"]
    assert tell(2, over(7)) == ["launch 2 get_item"]


def test_another_sessions_write_counts_too() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1", session="s"))
    tell(1, done(1))
    assert tell(2, asked(7, "set_item 1", session="t")) == ["1 discarded, ran 1, saved 0", "run 7"]


def test_an_unknown_tool_counts_as_a_write_of_everything() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1", "web_page 1", "sum 1"))
    assert tell(2, asked(7, "mystery")) == [
        "cancel 1",
        "1 discarded, ran 2, saved 0",
        "cancel 2",
        "2 discarded, ran 2, saved 0",
        "run 7",
    ]


def test_a_promoted_job_outlives_a_write_that_overlaps_it() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(1, asked(7, "get_item 1"))
    assert tell(2, asked(8, "set_item 1")) == ["run 8"]
    assert tell(3, done(1, "apple"))[0] == "serve 7 from 1: apple"


def test_a_write_outside_the_sidecar_counts_from_its_seal_to_its_end() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    assert tell(1, native_began("set_item 1")) == ["cancel 1", "1 discarded, ran 1, saved 0"]
    assert tell(2, predicted("get_item 1")) == ["refused get_item: write_in_flight"]
    assert tell(3, native_ended()) == ["launch 2 get_item"]


def test_two_outside_writes_with_one_call_id_both_have_to_end() -> None:
    tell = Playbook()
    tell(0, native_began("set_item 1"))
    tell(0, native_began("set_item 2"))
    tell(1, native_ended())
    assert tell(2, predicted("get_item 1")) == ["refused get_item: write_in_flight"]
    assert tell(3, native_ended()) == ["launch 1 get_item"]


def test_an_abandoned_write_may_still_take_effect_for_a_while() -> None:
    tell = Playbook()
    tell(0, asked(7, "set_item 1"))
    tell(1, over(7, None))
    assert tell(ABANDONED_S, predicted("get_item 1")) == ["refused get_item: write_in_flight"]
    assert tell(1 + ABANDONED_S, predicted("get_item 1")) == ["launch 1 get_item"]


def test_an_ended_sessions_open_write_may_still_take_effect_for_a_while() -> None:
    tell = Playbook()
    tell(0, native_began("set_item 1"))
    assert tell(1, SessionEnded(session="s")) == []
    assert tell(2, predicted("get_item 1", session="t")) == ["refused get_item: write_in_flight"]
    assert tell(1 + ABANDONED_S, predicted("get_item 1", session="t")) == ["launch 1 get_item"]


def test_lost_observations_void_everything_but_what_calls_wait_for() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1", "get_item 2", "web_page 1", "sum 1"))
    tell(1, done(1))
    tell(1, asked(7, "get_item 2"))
    assert tell(2, ObservationLost()) == [
        "1 discarded, ran 1, saved 0",
        "cancel 3",
        "3 discarded, ran 2, saved 0",
        "cancel 4",
        "4 discarded, ran 2, saved 0",
    ]
    assert tell(3, predicted("get_item 3")) == ["refused get_item: write_in_flight"]
    assert tell(3, done(2, "pear"))[0] == "serve 7 from 2: pear"


def test_an_ended_sessions_jobs_go_and_others_stay() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1", session="s"))
    tell(0, predicted("get_item 1", session="t"))
    assert tell(1, SessionEnded(session="s")) == ["cancel 1", "1 discarded, ran 1, saved 0"]
    assert tell(2, asked(7, "get_item 1", session="t")) == ["promote 2 for 7"]


def test_a_promoted_job_survives_its_sessions_end() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(1, asked(7, "get_item 1"))
    assert tell(2, SessionEnded(session="s")) == []
    assert tell(3, done(1, "apple"))[0] == "serve 7 from 1: apple"


def test_a_given_up_wait_leaves_its_job_for_the_next_call() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(1, asked(7, "get_item 1"))
    assert tell(2, over(7, None)) == []
    assert tell(3, done(1, "apple")) == []
    assert tell(4, asked(8, "get_item 1")) == ["serve 8 from 1: apple", "1 reused, ran 3, saved 3"]


def test_a_given_up_wait_drops_its_job_if_a_write_came_between() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(1, asked(7, "get_item 1"))
    tell(2, asked(8, "set_item 1"))
    assert tell(3, over(7, None)) == ["cancel 1", "1 discarded, ran 3, saved 0"]


def test_a_given_up_wait_drops_its_job_if_its_time_is_over() -> None:
    tell = Playbook()
    tell(0, predicted("web_page 1"))
    tell(1, asked(7, "web_page 1"))
    assert tell(20, Tick()) == []
    assert tell(20, over(7, None)) == ["cancel 1", "1 discarded, ran 20, saved 0"]


def test_ends_of_calls_nobody_knows_are_passed_over() -> None:
    tell = Playbook()
    assert tell(0, over(99)) == []
    assert tell(0, done(99)) == []
    assert tell(0, native_ended("nobody")) == []


def test_off_launches_nothing_and_says_nothing() -> None:
    tell = Playbook(mode=Mode.OFF)
    assert tell(0, predicted("get_item 1", "mystery")) == []
    assert tell(1, asked(7, "get_item 1")) == ["run 7"]
    assert tell(2, over(7)) == []


def test_held_results_are_bounded_in_number_and_bytes_oldest_first() -> None:
    tell = Playbook(limits(held_results=2))
    tell(0, predicted("get_item 1", "get_item 2", "get_item 3"))
    assert tell(1, done(1)) == []
    assert tell(1, done(2)) == []
    assert tell(1, done(3)) == ["1 discarded, ran 1, saved 0"]
    tell = Playbook(limits(held_bytes=150))
    tell(0, predicted("get_item 1", "get_item 2"))
    assert tell(1, done(1, "x" * 100)) == []
    assert tell(1, done(2, "x" * 51)) == ["1 discarded, ran 1, saved 0"]


def test_bytes_of_results_that_were_used_count_no_more() -> None:
    tell = Playbook(limits(held_bytes=150))
    for job in range(1, 4):
        tell(job, predicted(f"get_item {job}"))
        assert tell(job + 0.5, done(job, "x" * 100)) == []
        assert tell(job + 0.5, asked(job, f"get_item {job}"))[0].startswith(f"serve {job}")


def test_the_results_that_would_expire_first_make_room() -> None:
    tell = Playbook(limits(held_results=2))
    tell(0, predicted("get_item 1", "web_page 1"))
    assert tell(1, done(1)) == []
    assert tell(1, done(2)) == []
    tell(2, predicted("get_item 2"))
    assert tell(3, done(3)) == ["2 discarded, ran 1, saved 0"]


def test_a_promoted_job_has_no_deadline_until_its_call_gives_up() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(1, asked(7, "get_item 1"))
    assert tell.scheduler.next_deadline() is None
    assert tell(2, over(7, None)) == []
    assert tell.scheduler.next_deadline() == 60
    assert tell(60, Tick()) == ["cancel 1", "1 discarded, ran 60, saved 0"]


def test_a_given_up_wait_drops_its_job_if_observations_were_lost() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(1, asked(7, "get_item 1"))
    tell(2, ObservationLost())
    assert tell(3, over(7, None)) == ["cancel 1", "1 discarded, ran 3, saved 0"]


def test_a_client_that_reports_no_ends_does_not_stop_speculation_for_good() -> None:
    tell = Playbook()
    tell(0, native_began("set_item 1", "first"))
    for number in range(OPEN_CALLS):
        tell(1, native_began("write_note", str(number)))
    tell(2, SessionEnded(session="s"))
    assert tell(3 + ABANDONED_S, predicted("get_item 1")) == ["launch 1 get_item"]


def test_what_is_remembered_does_not_grow_with_what_is_over() -> None:
    tell = Playbook(limits(slots=20, ttl_s=5.0))
    sizes: list[int] = []
    for number in range(9_000):
        session, call = f"session {number}", 2 * number
        lines = tell(number, predicted("get_item 1", "set_item 1", "sum 1", session=session))
        (launch,) = (line for line in lines if line.endswith("get_item") and line.startswith("launch"))
        tell(number + 0.5, done(int(launch.split()[1])))
        assert tell(number + 0.5, asked(call, "get_item 1", session=session))[0].startswith(f"serve {call}")
        tell(number + 0.6, native_began("set_item 1", session=session))
        tell(number + 0.7, native_ended(session=session))
        tell(number + 0.8, asked(call + 1, f"made_up_{number}/tool_{number}", session=session))
        tell(number + 0.9, over(call + 1))
        if number % 300 == 0:
            sizes.append(reachable(tell.scheduler))
    assert max(sizes[20:]) <= 1.1 * max(sizes[:20])


def test_a_launch_carries_the_whole_invocation_and_its_scope() -> None:
    tell = Playbook()
    (launch,) = tell.scheduler.step(predicted("get_item 1", scope="left"), 0.0)
    assert (launch.invocation, launch.scope, launch.session) == (call_of("get_item 1"), "left", "s")  # type: ignore[union-attr]


def test_what_a_job_had_to_start_first_is_not_counted_as_saved() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1", "get_item 2"))
    tell(5, JobEnded(job=1, result=ToolResult(body=b"apple", took_s=2.0)))
    assert tell(6, asked(7, "get_item 1")) == ["serve 7 from 1: apple", "1 reused, ran 5, saved 2"]
    assert tell(6, asked(8, "get_item 2")) == ["promote 2 for 8"]
    assert tell(7, JobEnded(job=2, result=ToolResult(body=b"pear", took_s=1.5))) == [
        "serve 8 from 2: pear",
        "2 promoted, ran 7, saved 0.5",
    ]


def test_a_call_waits_for_no_connection_but_its_own() -> None:
    tell = Playbook()
    assert tell(0, predicted("get_item 1")) == ["launch 1 get_item"]
    assert tell(0, JobWaits(job=1)) == []
    assert tell(3, asked(7, "get_item 1")) == ["cancel 1", "1 preempted, ran 3, saved 0", "run 7"]


def test_a_job_that_is_sent_at_last_is_promoted_like_any_other() -> None:
    tell = Playbook()
    tell(0, predicted("get_item 1"))
    tell(0, JobWaits(job=1))
    assert tell(2, JobSent(job=1)) == []
    assert tell(3, asked(7, "get_item 1")) == ["promote 1 for 7"]
