"""Descent against solutions that can be worked out."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.forecast.training.descent import (
    Rows,
    logistic,
    scores,
    softmax_over_groups,
    softmax_over_labels,
)

Group = list[tuple[list[tuple[int, float]], float]]
"""Of each alternative its features, and whether it is wanted."""


def rows(groups: list[Group]) -> Rows:
    found = Rows()
    for group in groups:
        for features, wanted in group:
            found.row(features, wanted)
        found.close()
    return found


def test_a_softmax_over_two_alternatives_learns_their_log_odds() -> None:
    """Chosen three times in four: the difference of the weights is log 3."""
    right = [([(0, 1.0)], 1.0), ([(1, 1.0)], 0.0)]
    wrong = [([(0, 1.0)], 0.0), ([(1, 1.0)], 1.0)]
    weights = softmax_over_groups(rows([right, right, right, wrong] * 20), 2, epochs=60, rate=0.3, decay=0.0)
    assert weights[0] - weights[1] == pytest.approx(log(3), abs=0.05)


def test_groups_of_different_sizes_are_each_a_whole() -> None:
    """One feature, in a group of two and in one of four: the wanted row has e^w of e^w + 1, of e^w + 3. The slope is
    nothing where the shares e^w / (e^w + 1) and e^w / (e^w + 3) add up to the number of times that it was wanted."""

    def group(others: int, *, first: bool) -> Group:
        return [([(0, 1.0)], float(first))] + [([(1, 0.0)], float(not first) / others)] * others

    told = [group(1, first=True), group(3, first=True), group(1, first=True), group(3, first=False)] * 50
    weights = softmax_over_groups(rows(told), 2, epochs=60, rate=0.6, decay=0.0)
    best = min(np.linspace(-3, 5, 8001), key=lambda w: abs(2 / (1 + np.exp(-w)) + 2 / (1 + 3 * np.exp(-w)) - 3))
    assert weights[0] == pytest.approx(best, abs=0.05)


def test_a_logistic_learns_the_rate_of_each_feature() -> None:
    told: list[Group] = [[([(at, 1.0)], float(n < hits))] for at, hits in enumerate((1, 5, 9)) for n in range(10)]
    weights = logistic(rows(told * 20), 3, epochs=60, rate=0.6, decay=0.0)
    assert weights == pytest.approx([log(1 / 9), 0.0, log(9)], abs=0.06)


def test_values_scale_what_a_feature_says() -> None:
    told = [[([(0, 2.0)], float(n < 8)) for n in range(10)]] * 20
    assert logistic(rows(told), 1, epochs=60, rate=0.3, decay=0.0)[0] == pytest.approx(log(4) / 2, abs=0.05)


def test_a_softmax_over_labels_learns_the_shares_after_each_cue() -> None:
    cues = [[0]] * 40 + [[1]] * 40
    labels = [[0]] * 30 + [[1]] * 10 + [[0, 1]] * 40
    bias, weights = softmax_over_labels(
        cues, labels, (2, 3), epochs=80, rate=0.3, decay=0.0, evens=[2.0 / len(one) for one in cues]
    )
    odds = bias + 2.0 * weights
    assert odds[0, 0] - odds[0, 1] == pytest.approx(log(3), abs=0.1)
    assert odds[1, 0] - odds[1, 1] == pytest.approx(0.0, abs=0.1)
    assert max(odds[:, 2]) < min(odds[:, :2].ravel()) - 2


def test_examples_without_cues_teach_the_bias_alone() -> None:
    cues: list[list[int]] = [[], [0], [], []] * 20
    labels = [[0], [1], [0], [1]] * 20
    bias, weights = softmax_over_labels(cues, labels, (1, 2), epochs=80, rate=0.3, decay=0.0, evens=[1.0] * len(cues))
    assert bias[0] - bias[1] == pytest.approx(log(2), abs=0.1)
    assert weights[0, 1] - weights[0, 0] > 2


def test_empty_input_teaches_nothing() -> None:
    assert softmax_over_groups(Rows(), 2, epochs=2, rate=0.1, decay=0.0).tolist() == [0.0, 0.0]
    assert logistic(rows([[], []]), 1, epochs=2, rate=0.1, decay=0.0).tolist() == [0.0]
    bias, weights = softmax_over_labels([], [], (2, 1), epochs=2, rate=0.1, decay=0.0, evens=[])
    assert (bias.tolist(), weights.tolist()) == ([0.0], [[0.0], [0.0]])
    assert scores(Rows(), []).tolist() == []


GROUPS = st.lists(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 3), st.floats(-2, 2, width=16)), max_size=3), st.sampled_from([0.0, 1.0])
        ),
        max_size=4,
    ),
    max_size=6,
)


@given(GROUPS)
def test_any_groups_are_learned_from_and_finite(groups: list[Group]) -> None:
    for learn in (softmax_over_groups, logistic):
        assert np.isfinite(learn(rows(groups), 4, epochs=2, rate=0.2, decay=1e-4)).all()


@given(GROUPS, GROUPS)
def test_rows_joined_are_rows_written_one_after_the_other(one: list[Group], other: list[Group]) -> None:
    joined = rows(one)
    joined.extend(rows(other), {at: at for at in range(4)})
    assert joined == rows([*one, *other])
    weights = [1.0, -2.0, 0.5, 3.0]
    every = [features for group in [*one, *other] for features, _ in group]
    assert scores(joined, weights) == pytest.approx(
        [sum(weights[at] * by for at, by in row) for row in every], abs=1e-3
    )
