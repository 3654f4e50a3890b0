"""What a judgement learns that weights alone cannot."""

import numpy as np

from paste_proxy.mining.forecast.judgement import matrix
from paste_proxy.mining.forecast.training.descent import Floats, Ints, Rows, scores, softmax_over_groups
from paste_proxy.mining.forecast.training.judging import Judging

MOMENTS = [((0.0, 0.0), (0.0, 1.0)), ((1.0, 1.0), (1.0, 0.0))] * 200
"""The second is wanted, the one whose measures differ: neither measure tells it alone."""


def told() -> tuple[Rows, Floats, Ints]:
    rows, measures, at = Rows(), list[tuple[float, float]](), list[int]()
    for moment in MOMENTS:
        for place, one in enumerate(moment):
            rows.row([(0, 1.0)], float(place == 1))
            at.append(len(measures))
            measures.append(one)
        rows.row([(1, 1.0)], 0.0)
        at.append(-1)
        rows.close()
    return rows, np.array(measures, np.float32), np.array(at, np.int64)


def test_measures_are_judged_together() -> None:
    rows, measures, at = told()
    judging = Judging(measures, at)
    weights = softmax_over_groups(rows, 2, epochs=20, rate=0.3, decay=0.0, beside=judging)
    judged = judging.judgement()
    for moment in MOMENTS[:2]:
        other, wanted = judged(matrix(moment))
        assert wanted > other + 2
    assert weights[0] > weights[1]


def test_what_was_learned_says_what_was_said_while_learning() -> None:
    rows, measures, at = told()
    judging = Judging(measures, at)
    softmax_over_groups(rows, 2, epochs=2, rate=0.3, decay=0.0, beside=judging)
    said = judging.says(np.arange(len(at)))
    assert not said[at < 0].any()
    assert np.allclose(said[at >= 0], judging.judgement()(measures), atol=1e-2)


def test_the_same_is_learned_every_time() -> None:
    def learned() -> object:
        rows, measures, at = told()
        judging = Judging(measures, at)
        weights = softmax_over_groups(rows, 2, epochs=3, rate=0.3, decay=0.0, beside=judging)
        return weights.tolist(), judging.judgement()

    assert learned() == learned()


def test_a_measure_that_never_changes_says_nothing_odd() -> None:
    rows, measures, at = told()
    flat = np.concatenate([measures, np.full((len(measures), 1), 7.0, np.float32)], axis=1)
    judging = Judging(flat, at)
    weights = softmax_over_groups(rows, 2, epochs=3, rate=0.3, decay=0.0, beside=judging)
    assert np.isfinite([*scores(rows, weights.tolist()), *judging.judgement()(flat)]).all()


def test_it_starts_from_what_another_learned_and_is_held_to_it() -> None:
    rows, measures, at = told()
    first = Judging(measures, at)
    softmax_over_groups(rows, 2, epochs=20, rate=0.3, decay=0.0, beside=first)
    before = first.judgement()
    assert np.allclose(
        Judging(measures, at, before).says(np.arange(len(at))), first.says(np.arange(len(at))), atol=1e-2
    )
    against = Rows(rows.ids, rows.values, rows.ends, rows.groups, [1 - wanted for wanted in rows.wanted])
    moved = []
    for decay in (0.0, 1.0):
        judging = Judging(measures, at, before, decay=decay)
        softmax_over_groups(against, 2, epochs=3, rate=0.3, decay=0.0, beside=judging)
        moved.append(np.abs(np.subtract(judging.judgement().outer, before.outer)).sum())
    assert moved[1] < moved[0]
