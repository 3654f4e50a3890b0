"""`observe`: nothing runs ahead, and the account says what would have been."""

from paste_proxy.events.result import Status
from paste_proxy.speculation.limits import ServerCapacity
from paste_proxy.speculation.types import Mode, SessionEnded, Tick

from .playbook import Playbook, asked, guess, limits, over, predicted


def test_a_shadow_job_with_enough_lead_would_have_been_reused() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    assert tell(0, predicted("get_item 1")) == []
    assert tell(5, asked(7, "get_item 1")) == ["run 7"]
    assert tell(7, over(7)) == ["shadow 1 reused, ran 2, saved 2"]


def test_a_shadow_job_with_less_lead_would_have_been_promoted() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    tell(0, predicted("get_item 1"))
    assert tell(3, asked(7, "get_item 1")) == ["run 7"]
    assert tell(13, over(7)) == ["shadow 1 promoted, ran 10, saved 3"]


def test_a_failed_call_would_not_have_been_served_from_a_kept_result() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    tell(0, predicted("get_item 1"))
    tell(5, asked(7, "get_item 1"))
    assert tell(7, over(7, Status.ERROR)) == ["shadow 1 discarded, ran 2, saved 0"]


def test_an_abandoned_call_saves_nothing() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    tell(0, predicted("get_item 1"))
    tell(5, asked(7, "get_item 1"))
    assert tell(7, over(7, None)) == ["shadow 1 discarded, ran 1, saved 0"]


def test_a_call_abandoned_in_the_queue_saves_nothing() -> None:
    tell = Playbook(mode=Mode.OBSERVE, capacities={"small": ServerCapacity(total=1)})
    tell(0, predicted("small/read 1"))
    assert tell(1, asked(6, "small/read 0")) == ["run 6"]
    assert tell(2, asked(7, "small/read 1")) == []
    assert tell(3, over(7, None)) == ["shadow 1 discarded, ran 1, saved 0"]
    assert tell(4, over(6)) == []


def test_shadow_jobs_obey_effects() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    tell(0, predicted("get_item 1"))
    assert tell(1, asked(7, "set_item 1")) == ["shadow 1 discarded, ran 1, saved 0", "run 7"]
    assert tell(2, predicted("get_item 1")) == ["refused get_item: write_in_flight"]


def test_shadow_jobs_obey_time() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    tell(0, predicted("web_page 1"))
    assert tell.scheduler.next_deadline() == 10
    assert tell(10, Tick()) == ["shadow 1 discarded, ran 1, saved 0"]


def test_shadow_jobs_obey_the_budget_until_their_expected_end() -> None:
    tell = Playbook(limits(slots=1), mode=Mode.OBSERVE)
    assert tell(0, predicted(guess("get_item 1", expected_s=2))) == []
    assert tell(1, predicted(guess("get_item 2", expected_s=2))) == ["refused get_item: budget"]
    assert tell(2, predicted(guess("get_item 2", expected_s=2))) == []


def test_shadow_jobs_give_way_to_calls() -> None:
    tell = Playbook(mode=Mode.OBSERVE, capacities={"small": ServerCapacity(total=1)})
    assert tell(0, predicted(guess("small/read 1", expected_s=5))) == []
    assert tell(1, asked(7, "small/read 2")) == ["shadow 1 preempted, ran 1, saved 0", "run 7"]


def test_shadow_results_are_bounded_in_number() -> None:
    tell = Playbook(limits(held_results=1), mode=Mode.OBSERVE)
    tell(0, predicted(guess("get_item 1", expected_s=1), guess("get_item 2", expected_s=1)))
    assert tell(5, Tick()) == ["shadow 1 discarded, ran 1, saved 0"]


def test_shadow_jobs_end_with_their_session() -> None:
    tell = Playbook(mode=Mode.OBSERVE)
    tell(0, predicted(guess("get_item 1", expected_s=4)))
    assert tell(2, SessionEnded(session="s")) == ["shadow 1 discarded, ran 2, saved 0"]


def test_a_rule_can_hold_one_tool_at_observing() -> None:
    tell = Playbook()
    assert tell(0, predicted("watched_1", "get_item 1")) == ["launch 2 get_item"]
    assert tell(5, asked(7, "watched_1")) == ["run 7"]
    assert tell(6, over(7)) == ["shadow 1 reused, ran 1, saved 1"]


def test_shadow_jobs_take_no_slot_from_real_ones() -> None:
    tell = Playbook(limits(slots=1))
    assert tell(0, predicted("watched_1")) == []
    assert tell(0, predicted("get_item 1")) == ["launch 2 get_item"]
