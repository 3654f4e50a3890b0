"""Which candidates are launched, in what order, and at whose cost."""

from itertools import count

from paste_proxy.events.candidate import SEALED
from paste_proxy.events.result import Status
from paste_proxy.speculation.limits import ServerCapacity
from paste_proxy.speculation.types import Mode, SessionEnded, Tick

from .playbook import Playbook, asked, broke, done, guess, limits, over, predicted

SMALL = {"small": ServerCapacity(total=2, speculative=2)}


def test_one_job_a_place_whatever_predicts_it() -> None:
    tell = Playbook()
    assert tell(0, predicted("get_item 1", guess("get_item 1", 0.9, "other"))) == [
        "launch 1 get_item",
        "refused get_item: duplicate",
    ]
    assert tell(1, predicted(guess("get_item 1", 1.0, SEALED))) == ["refused get_item: duplicate"]
    tell(2, done(1))
    assert tell(3, predicted("get_item 1")) == ["refused get_item: duplicate"]
    assert tell(3, predicted("get_item 1", session="t")) == ["launch 2 get_item"]


def test_a_call_the_agent_is_waiting_for_is_not_run_ahead_beside_it() -> None:
    tell = Playbook()
    tell(0, asked(7, "get_item 1"))
    assert tell(1, predicted("get_item 1")) == ["refused get_item: duplicate"]
    tell(2, over(7))
    assert tell(3, predicted("get_item 1")) == ["launch 1 get_item"]


def test_a_sealed_call_is_launched_like_any_other() -> None:
    tell = Playbook()
    assert tell(0, predicted(guess("get_item 1", 1.0, SEALED))) == ["launch 1 get_item"]
    assert tell(0.25, asked(7, "get_item 1")) == ["promote 1 for 7"]
    assert tell(2, done(1, "apple")) == ["serve 7 from 1: apple", "1 promoted, ran 2, saved 0.25"]


def test_an_unlikely_candidate_is_refused() -> None:
    tell = Playbook()
    assert tell(0, predicted(guess("get_item 1", 0.1))) == ["refused get_item: confidence"]


def test_a_rule_sets_its_own_least_confidence() -> None:
    tell = Playbook()
    assert tell(0, predicted(guess("sure_thing 1", 0.7), guess("sure_thing 2", 0.8))) == [
        "refused sure_thing: confidence",
        "launch 1 sure_thing",
    ]


def test_a_tool_that_is_quick_is_not_worth_a_job() -> None:
    tell = Playbook()
    assert tell(0, predicted(guess("get_item 1", 0.5, expected_s=0.01))) == ["refused get_item: benefit"]


def test_measured_durations_correct_what_the_predictor_expected() -> None:
    tell = Playbook()
    tell(0, asked(7, "get_item 1"))
    tell(0.001, over(7))
    assert tell(1, predicted(guess("get_item 2", 0.5, expected_s=9))) == ["refused get_item: benefit"]


def test_jobs_are_timed_too_but_not_their_errors() -> None:
    tell = Playbook()
    tell(0, predicted(guess("get_item 1", expected_s=9)))
    tell(0.001, done(1, "no such item", Status.ERROR))
    assert tell(1, predicted(guess("get_item 2", expected_s=9))) == ["launch 2 get_item"]
    tell(1.001, done(2))
    assert tell(2, predicted(guess("get_item 3", expected_s=9))) == ["refused get_item: benefit"]


def test_leads_are_learned_from_matches() -> None:
    tell = Playbook()
    for job in range(1, 65):
        tell(job, predicted(guess(f"get_item {job}", 1.0)))
        assert tell(job + 0.02, asked(job, f"get_item {job}")) == [f"promote {job} for {job}"]
        tell(job + 0.9, done(job))
    assert tell(100, predicted(guess("get_item 100", 0.3))) == ["refused get_item: benefit"]


def test_the_best_per_slot_second_go_first_when_a_prediction_is_too_long() -> None:
    tell = Playbook(limits(candidates=2))
    assert tell(0, predicted(guess("get_item 1", 0.2), guess("get_item 2", 0.9), guess("get_item 3", 0.5))) == [
        "launch 1 get_item",
        "launch 2 get_item",
        "refused get_item: budget",
    ]
    assert tell(1, asked(7, "get_item 2")) == ["promote 1 for 7"]
    assert tell(1, asked(8, "get_item 3")) == ["promote 2 for 8"]
    assert tell(1, asked(9, "get_item 1")) == ["run 9"]


def test_a_full_budget_refuses_what_is_not_clearly_better() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted(guess("get_item 1", 0.4)))
    assert tell(0, predicted(guess("get_item 2", 0.7))) == ["refused get_item: budget"]


def test_a_clearly_better_candidate_takes_the_least_useful_jobs_place() -> None:
    tell = Playbook(limits(slots=2))
    tell(0, predicted(guess("get_item 1", 0.4), guess("get_item 2", 0.3)))
    assert tell(1, predicted(guess("get_item 3", 0.7))) == [
        "cancel 2",
        "2 preempted, ran 1, saved 0",
        "launch 3 get_item",
    ]


def test_a_repeated_prediction_strengthens_its_job() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted(guess("get_item 1", 0.3)))
    tell(0, predicted(guess("get_item 1", 0.9)))
    assert tell(1, predicted(guess("get_item 2", 0.8))) == ["refused get_item: budget"]


def test_finished_and_promoted_jobs_take_no_speculative_slot() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted("get_item 1"))
    tell(1, done(1))
    assert tell(1, predicted("get_item 2")) == ["launch 2 get_item"]
    tell(1, asked(7, "get_item 2"))
    assert tell(1, predicted("get_item 3")) == ["launch 3 get_item"]


def test_a_servers_own_bound_on_speculation_holds() -> None:
    tell = Playbook(capacities={"": ServerCapacity(speculative=1)})
    assert tell(0, predicted("get_item 1", "get_item 2")) == ["launch 1 get_item", "refused get_item: budget"]
    assert tell(0, predicted("small/read 1")) == ["launch 2 small/read"]


def test_calls_queue_in_order_for_a_server_of_limited_capacity_in_every_mode() -> None:
    for mode in Mode:
        tell = Playbook(mode=mode, capacities=SMALL)
        assert tell(0, asked(1, "small/read 1")) == ["run 1"]
        assert tell(0, asked(2, "small/read 2")) == ["run 2"]
        assert tell(0, asked(3, "small/read 3")) == []
        assert tell(0, asked(4, "small/read 4")) == []
        assert tell(1, over(2)) == ["run 3"]
        assert tell(1, over(1)) == ["run 4"]
        assert tell(1, asked(5, "small/read 5")) == []
        assert tell(2, over(5, None)) == []
        assert tell(2, over(3)) == []
        assert tell(2, over(4)) == []


def test_a_call_takes_the_slot_of_the_least_useful_job() -> None:
    tell = Playbook(capacities=SMALL)
    tell(0, predicted(guess("small/read 1", 0.3), guess("small/read 2", 0.9)))
    assert tell(1, asked(7, "small/read 3")) == ["cancel 2", "2 preempted, ran 1, saved 0", "run 7"]
    assert tell(1, asked(8, "small/read 4")) == ["cancel 1", "1 preempted, ran 1, saved 0", "run 8"]


def test_a_promoted_job_is_never_preempted() -> None:
    tell = Playbook(capacities=SMALL)
    tell(0, predicted(guess("small/read 1", 0.3), guess("small/read 2", 0.9)))
    tell(1, asked(7, "small/read 1"))
    assert tell(1, asked(8, "small/read 3")) == ["cancel 1", "1 preempted, ran 1, saved 0", "run 8"]
    assert tell(1, asked(9, "small/read 4")) == []
    assert tell(2, done(2, "b")) == ["serve 7 from 2: b", "2 promoted, ran 2, saved 1", "run 9"]


def test_speculation_uses_only_slots_that_calls_leave() -> None:
    tell = Playbook(capacities=SMALL)
    tell(0, asked(7, "small/read 1"))
    assert tell(0, predicted("small/read 2", "small/read 3")) == ["launch 1 small/read", "refused small/read: budget"]
    tell(0, asked(8, "small/read 4"))
    assert tell(0, predicted(guess("small/read 5", 1.0, SEALED))) == ["refused small/read: budget"]


def test_a_queued_write_already_counts() -> None:
    tell = Playbook(capacities=SMALL)
    tell(0, predicted("small/read 1"))
    tell(1, done(1, "old"))
    tell(1, asked(6, "small/read 6"))
    tell(1, asked(7, "small/read 7"))
    assert tell(2, asked(8, "small/write x")) == ["1 discarded, ran 1, saved 0"]
    assert tell(2, over(8, None)) == []
    assert tell(3, over(6)) == []
    assert tell(3, predicted("small/read 2")) == ["launch 2 small/read"]


def test_a_given_up_wait_gives_its_slot_to_the_next_call() -> None:
    tell = Playbook(capacities={"small": ServerCapacity(total=1)})
    tell(0, predicted("small/read 1"))
    assert tell(1, asked(7, "small/read 1")) == ["promote 1 for 7"]
    assert tell(2, asked(8, "small/read 2")) == []
    assert tell(3, over(7, None)) == ["cancel 1", "1 preempted, ran 3, saved 0", "run 8"]


def test_a_broken_promotion_keeps_its_slot() -> None:
    tell = Playbook(capacities={"small": ServerCapacity(total=1)})
    tell(0, predicted("small/read 1"))
    tell(1, asked(7, "small/read 1"))
    assert tell(2, asked(8, "small/read 2")) == []
    assert tell(3, broke(1)) == ["run 7", "1 discarded, ran 3, saved 0"]
    assert tell(4, over(7)) == ["run 8"]


def test_a_candidate_that_found_no_room_is_launched_when_a_job_ends() -> None:
    tell = Playbook(limits(slots=1))
    assert tell(0, predicted("get_item 1", "get_item 2")) == ["launch 1 get_item", "refused get_item: budget"]
    assert tell(1, done(1)) == ["launch 2 get_item"]
    assert tell(2, done(2)) == []


def test_of_those_waiting_the_most_useful_goes_first_and_none_displaces_a_job() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted("get_item 1", guess("get_item 2", 0.3), guess("get_item 3", 0.45)))
    assert tell(1, done(1)) == ["launch 2 get_item"]
    assert tell(1, asked(7, "get_item 3")) == ["promote 2 for 7", "launch 3 get_item"]


def crowded(tell: Playbook) -> bool:
    return tell.scheduler.crowded


def test_it_is_crowded_while_something_waits_for_room() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted("get_item 1"))
    assert not crowded(tell), "full, and nobody waits"
    tell(0, predicted("get_item 2"))
    assert crowded(tell)
    tell(1, done(1))
    assert not crowded(tell)
    tell(2, done(2))
    tell(3, asked(7, "set_item 1"))
    tell(3, predicted("get_item 3"))
    assert not crowded(tell), "it waits for a write, and there is room"


def test_nobody_waits_longer_than_a_turn_lasts_nor_after_the_session() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted("get_item 1", "get_item 2"))
    assert tell(11, done(1)) == []
    tell(12, predicted("get_item 3", "get_item 4"))
    assert "cancel 2" in tell(13, SessionEnded(session="s"))
    assert tell(14, Tick()) == []


def test_a_candidate_waits_for_the_end_of_a_write() -> None:
    tell = Playbook()
    tell(0, asked(7, "set_item 1"))
    assert tell(1, predicted("get_item 1")) == ["refused get_item: write_in_flight"]
    assert tell(2, over(7)) == ["launch 1 get_item"]


def test_what_the_agent_has_asked_for_itself_waits_no_more() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted("get_item 1", "get_item 2"))
    tell(1, asked(7, "get_item 2"))
    assert tell(2, done(1)) == []


def test_what_waits_costs_nothing_until_something_has_made_room() -> None:
    tell, looked = Playbook(limits(candidates=200)), count()
    effects = tell.scheduler._state.writes.open
    look = effects.dirty
    effects.dirty = lambda reads, now: (next(looked), look(reads, now))[1]  # type: ignore[method-assign]
    tell(0, asked(1, "set_item 1"))
    tell(0, predicted(*(f"get_item {number}" for number in range(100))))
    before = next(looked)
    for call in range(10, 60):
        tell(1, asked(call, "web_page x"))
        tell(1, over(call))
    assert next(looked) == before + 1
    assert tell(2, over(1))[0].startswith("launch 1 ")


def test_what_waits_for_an_abandoned_write_is_tried_when_its_time_is_over() -> None:
    tell = Playbook(limits(candidates=200))
    tell(0, asked(1, "set_item 1"))
    tell(1, over(1, None))
    tell(55, predicted("get_item 1"))
    assert tell(60, Tick()) == []
    assert tell(62, Tick()) == ["launch 1 get_item"]
