"""What the LLM is writing rules some candidates out and makes others likely."""

from dataclasses import replace

from paste_proxy.events.candidate import NARROWED, SEALED
from paste_proxy.speculation.limits import ServerCapacity
from paste_proxy.speculation.types import Mode

from .playbook import Playbook, asked, done, guess, limits, over, predicted, writing, wrote

SURE = replace(guess("get_item 1", 0.9), later=0.1)
LASTING = replace(guess("get_item 1", 0.9), later=0.6)


def test_a_running_job_that_the_call_rules_out_is_preempted() -> None:
    tell = Playbook()
    tell(0, predicted(SURE, guess("get_item 2", 0.4), guess("web_page 1", 0.4)))
    assert tell(1, writing("get_item")) == ["cancel 3", "3 preempted, ran 1, saved 0"]
    assert tell(2, writing("get_item", id="2")) == ["cancel 1", "1 preempted, ran 2, saved 0"]
    assert tell(3, wrote("get_item 3")) == ["cancel 2", "2 preempted, ran 3, saved 0"]


def test_what_is_likely_later_goes_on() -> None:
    tell = Playbook()
    tell(0, predicted(LASTING))
    assert tell(1, writing("web_page")) == []
    assert tell(2, wrote("web_page 1")) == []
    assert tell(3, asked(7, "get_item 1")) == ["promote 1 for 7"]


def test_what_a_further_call_of_the_turn_may_ask_for_goes_on() -> None:
    tell = Playbook()
    tell(0, predicted(SURE))
    assert tell(1, wrote("web_page 1", more=0.5)) == []
    assert tell(2, wrote("web_page 2")) == ["cancel 1", "1 preempted, ran 2, saved 0"]


def test_a_finished_result_stays() -> None:
    tell = Playbook()
    tell(0, predicted(SURE))
    tell(1, done(1, "apple"))
    assert tell(2, wrote("web_page 1")) == []
    assert tell(3, asked(7, "get_item 1")) == ["serve 7 from 1: apple", "1 reused, ran 1, saved 1"]


def test_an_earlier_call_of_the_turn_is_not_ruled_out_by_a_later_one() -> None:
    tell = Playbook()
    tell(0, predicted(SURE))
    tell(0, predicted(guess("sure_thing 2", 0.98, SEALED)))
    sealed = predicted(guess("get_item 1", 0.98, SEALED))
    assert tell(1, wrote("get_item 1", sealed)) == ["refused get_item: duplicate"]
    assert tell(2, wrote("web_page 1")) == []


def test_a_job_that_a_call_waits_for_is_out_of_reach() -> None:
    tell = Playbook()
    tell(0, predicted(SURE))
    tell(1, asked(7, "get_item 1"))
    assert tell(2, wrote("web_page 1")) == []


def test_other_sessions_are_not_concerned() -> None:
    tell = Playbook()
    tell(0, predicted(SURE))
    assert tell(1, wrote("web_page 1", session="t")) == []


def test_what_the_call_makes_likely_is_launched() -> None:
    tell = Playbook()
    assert tell(0, predicted(guess("get_item 1", 0.1))) == ["refused get_item: confidence"]
    newly = predicted(guess("get_item 1", 0.6, NARROWED))
    assert tell(1, writing("get_item", newly)) == ["launch 1 get_item"]
    assert tell(1.5, writing("get_item", newly, id="1")) == ["refused get_item: duplicate"]
    assert tell(2, asked(7, "get_item 1")) == ["promote 1 for 7"]


def test_what_is_ruled_out_makes_room_for_what_is_likely_before_anything_that_waits() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted(replace(guess("web_page 1", 0.9), later=0.0), session="s"))
    assert tell(0, predicted("get_item 9", session="t")) == ["refused get_item: budget"]
    assert tell(1, writing("get_item", predicted(guess("get_item 1", 0.6, NARROWED)))) == [
        "cancel 1",
        "1 preempted, ran 1, saved 0",
        "launch 2 get_item",
    ]


def test_what_stays_though_ruled_out_ranks_by_what_is_left() -> None:
    for later, then in ((0.6, "refused sum: budget"), (0.3, "launch 2 sum")):
        tell = Playbook(limits(slots=1))
        tell(0, predicted(replace(SURE, later=later)))
        tell(1, writing("web_page"))
        assert tell(1, predicted(guess("sum 1", 0.9), session="t"))[-1] == then


def test_what_waits_and_is_ruled_out_waits_no_longer() -> None:
    tell = Playbook(limits(slots=1))
    tell(0, predicted(guess("web_page 1", 0.9)))
    assert tell(0, predicted(replace(guess("get_item 1"), later=0.0), replace(guess("get_item 2"), later=0.4))) == [
        "refused get_item: budget",
        "refused get_item: budget",
    ]
    tell(1, writing("web_page"))
    assert tell(2, done(1)) == ["launch 2 get_item"]
    assert tell(3, asked(7, "get_item 2")) == ["promote 2 for 7"]


def test_what_was_predicted_for_the_call_after_the_next_goes_on() -> None:
    tell = Playbook()
    tell(0, predicted(replace(guess("get_item 1", 0.4), depth=2)))
    assert tell(1, wrote("web_page 1")) == []


def test_a_predictor_that_says_nothing_of_later_keeps_a_share() -> None:
    tell = Playbook()
    tell(0, predicted(guess("get_item 1", 0.9), guess("get_item 2", 0.4)))
    assert tell(1, wrote("web_page 1")) == ["cancel 2", "2 preempted, ran 1, saved 0"]


def test_a_newer_prediction_of_the_same_counts_too() -> None:
    tell = Playbook()
    tell(0, predicted(replace(guess("get_item 1"), later=0.0)))
    tell(1, predicted(LASTING))
    assert tell(2, wrote("web_page 1")) == []


def test_observing_accounts_for_what_would_have_been_preempted() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    tell(0, predicted(SURE))
    assert tell(0.5, wrote("web_page 1")) == ["shadow 1 preempted, ran 0.5, saved 0"]
    assert Playbook(mode=Mode.OFF)(0, writing("get_item", predicted("get_item 1"))) == []


def test_leads_of_calls_being_written_are_learned_apart() -> None:
    tell = Playbook(limits(min_benefit_s=0.1), capacities={"": ServerCapacity()})
    for job in range(1, 65):
        tell(job, writing("get_item", predicted(guess(f"get_item {job}", 1.0, NARROWED))))
        tell(job + 0.02, asked(job, f"get_item {job}"))
        tell(job + 0.9, done(job))
    tell(70, over(1))
    assert tell(71, writing("get_item", predicted(guess("get_item 99", 1.0, NARROWED)))) == [
        "refused get_item: benefit"
    ]
    (launched,) = tell(72, predicted(guess("get_item 99", 1.0)))
    assert launched.startswith("launch")


def test_of_what_will_stand_complete_in_a_moment_only_the_likely_is_launched() -> None:
    tell = Playbook()
    newly = predicted(guess("get_item 1", 0.29, NARROWED), guess("get_item 2", 0.3, NARROWED))
    assert tell(0, writing("get_item", newly)) == ["refused get_item: confidence", "launch 1 get_item"]
