"""What a job is worth, from what runs have shown."""

from dataclasses import replace

import pytest

from paste_proxy.events.candidate import MODEL, SEALED
from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.policy import Policy, Ruling
from paste_proxy.speculation.utility import Experience

from .playbook import guess


def ruling(expected_s: float | None = None) -> Ruling:
    text = '[[rule]]\ntool = "get_item"\neffect = "read"\n'
    return Policy.parse(text + (f"expected_s = {expected_s}" if expected_s else ""), "test").rule_for(
        Invocation("get_item", {})
    )


def test_measured_time_comes_before_the_predictors_word_and_that_before_the_policys() -> None:
    experience = Experience()
    assert experience.worth(guess("get_item"), ruling()).expected_s == 1.0
    assert experience.worth(guess("get_item"), ruling(3)).expected_s == 3.0
    assert experience.worth(guess("get_item", expected_s=2), ruling(3)).expected_s == 2.0
    experience.ran("get_item", 0.5)
    assert experience.worth(guess("get_item", expected_s=2), ruling(3)).expected_s == 0.5


def test_one_slow_run_does_not_change_what_is_expected() -> None:
    experience = Experience()
    for seconds in (1.0, 1.1, 0.9, 1.0, 500.0):
        experience.ran("get_item", seconds)
    assert experience.worth(guess("get_item"), ruling()).expected_s == 1.0


def test_runs_at_the_lowest_priority_tell_of_a_tool_only_until_another_has() -> None:
    experience = Experience()
    experience.ran_aside("get_item", 30)
    assert experience.worth(guess("get_item"), ruling(3)).expected_s == 30
    experience.ran("get_item", 0.5)
    experience.ran_aside("get_item", 30)
    assert experience.worth(guess("get_item"), ruling(3)).expected_s == 0.5
    assert experience.usual_s("get_item", "get_item", 30, None) == 0.5


def test_a_call_to_be_held_back_is_expected_to_take_as_long_as_the_same_took_the_agent() -> None:
    staged = Policy.parse(
        '[[rule]]\ntool = "make"\neffect = "write"\nstage = true\nsame = { ignore = ["why"] }', "test"
    )
    experience = Experience()
    first, second = (Invocation("make", {"goal": "all", "why": why}) for why in ("a", "b"))
    key = staged.rule_for(first).same.plain(first).key
    for seconds in (0.01, 0.02, 0.03):
        experience.ran("make", seconds)
    experience.answered(key, 2)
    candidate = replace(guess("make"), invocation=second)
    assert experience.worth(candidate, staged.rule_for(second)).expected_s == 2
    other = Invocation("make", {"goal": "none"})
    assert experience.worth(replace(candidate, invocation=other), staged.rule_for(other)).expected_s == 0.02
    read = Policy.parse('[[rule]]\ntool = "make"\neffect = "read"\nsame = { ignore = ["why"] }', "test")
    assert experience.worth(candidate, read.rule_for(second)).expected_s == 0.02


def test_the_memory_of_calls_is_bounded_and_forgets_the_oldest() -> None:
    experience = Experience()
    for number in range(4_097):
        experience.answered(f"call {number}", 1)
    assert [experience.usual_s("make", f"call {number}", 5, None) for number in (0, 1)] == [5, 1]


def test_only_time_within_the_lead_is_hidden() -> None:
    experience = Experience()
    for _ in range(64):
        experience.led("pattern", 2.0)
    short = experience.worth(guess("get_item", 0.5, expected_s=1), ruling())
    long = experience.worth(guess("get_item", 0.5, expected_s=10), ruling())
    assert (short.benefit_s, short.utility) == (0.5, 0.5)
    assert (long.benefit_s, long.utility) == (1.0, 0.1)


def test_sealed_calls_have_a_lead_of_their_own() -> None:
    experience = Experience()
    for _ in range(64):
        experience.led(SEALED, 0.2)
    assert experience.worth(guess("get_item", 1.0, SEALED, 5), ruling()).benefit_s == pytest.approx(0.2)
    assert experience.worth(guess("get_item", 1.0, "pattern", 5), ruling()).benefit_s == pytest.approx(4.0)


def test_late_predictions_do_not_shut_a_predictor_out() -> None:
    experience = Experience()
    for _ in range(64):
        experience.led("pattern", 0.0)
    assert experience.worth(guess("get_item", 0.5, expected_s=5), ruling()).benefit_s > 0.02


def test_the_memory_of_tools_is_bounded_and_forgets_the_longest_unused() -> None:
    experience = Experience()
    experience.ran("get_item", 0.5)
    for number in range(1_023):
        experience.ran(f"tool {number}", 1.0)
    experience.ran("get_item", 0.5)
    experience.ran("one more", 1.0)
    assert experience.worth(guess("get_item"), ruling(3)).expected_s == 0.5
    for number in range(1_024):
        experience.ran(f"other {number}", 1.0)
    assert experience.worth(guess("get_item"), ruling(3)).expected_s == 3.0


def test_a_sealed_call_of_a_long_tool_is_worth_more_a_slot_second_than_any_guess() -> None:
    experience = Experience()
    sealed = experience.worth(guess("build", 0.98, SEALED, 60), ruling())
    likely = experience.worth(guess("build", 0.95, "pattern", 60), ruling())
    assert sealed.benefit_s < likely.benefit_s
    assert sealed.utility > likely.utility


def test_a_models_guesses_have_a_lead_of_their_own() -> None:
    experience = Experience()
    for _ in range(64):
        experience.led("pattern", 2.0)
        experience.led(MODEL, 0.5)
    guessed = replace(guess("get_item", 1.0, expected_s=10), source=MODEL)
    assert experience.worth(guessed, ruling()).benefit_s == 0.5
    assert experience.worth(guess("get_item", 1.0, expected_s=10), ruling()).benefit_s == 2.0
