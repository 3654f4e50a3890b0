"""The choice of the next tool against the textbook."""

from math import exp, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.forecast.choice import Choice

LABELS, CUES = ["", "a", "b", "c"], ["u", "v", "w", "x", "y"]
WEIGHTS = st.floats(-50, 50)


@given(
    st.permutations(LABELS).flatmap(lambda names: st.fixed_dictionaries(dict.fromkeys(names, WEIGHTS))),
    st.dictionaries(st.sampled_from(CUES), st.dictionaries(st.sampled_from(LABELS), WEIGHTS)),
    st.lists(st.sampled_from([*CUES, "unknown"]), unique=True),
)
def test_it_is_a_softmax_over_bias_and_evened_cues(
    bias: dict[str, float], weights: dict[str, dict[str, float]], cues: list[str]
) -> None:
    even = 2 / sqrt(len(cues) + 1)
    scores = {label: bias[label] + even * sum(weights.get(cue, {}).get(label, 0.0) for cue in cues) for label in LABELS}
    masses = {label: exp(score - max(scores.values())) for label, score in scores.items()}
    whole = sum(masses.values())
    told = Choice(bias, weights).probabilities(cues)
    assert told == {label: pytest.approx(mass / whole) for label, mass in masses.items()}


def test_a_choice_of_nothing_tells_nothing() -> None:
    assert Choice({}, {}).probabilities(["u"]) == {}
