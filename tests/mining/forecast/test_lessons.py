"""Corrections: towards what came, within bounds, the least of them forgotten."""

from paste_proxy.mining.forecast.lessons import MOST, Lessons


def test_a_correction_goes_against_the_slope() -> None:
    lessons = Lessons(0.1)
    ((trait, change),) = lessons.step({"repeat": 0.5})
    assert (trait, lessons.of["repeat"].weight) == ("repeat", change)
    assert change < 0


def test_a_trait_met_often_moves_in_smaller_steps() -> None:
    lessons = Lessons(0.1)
    steps = [abs(lessons.step({"repeat": 1.0})[0][1]) for _ in range(50)]
    assert steps[-1] < steps[0] / 3


def test_the_changes_told_add_up_to_the_corrections() -> None:
    lessons = Lessons(0.1)
    sums: dict[str, float] = {}
    for number in range(3 * MOST):
        for trait, change in lessons.step({f"t{number}": 1.0, "often": (-1.0) ** number}):
            sums[trait] = sums.get(trait, 0.0) + change
    for trait, total in sums.items():
        kept = lessons.of.get(trait)
        assert abs(total - (kept.weight if kept else 0.0)) < 1e-9


def test_they_are_bounded_in_number_and_size() -> None:
    lessons = Lessons(5.0)
    for number in range(3 * MOST):
        lessons.step({f"t{number}": 0.03, "always": -1.0})
    assert len(lessons.of) <= 1.25 * MOST
    assert 0 < lessons.of["always"].weight <= 6.0
