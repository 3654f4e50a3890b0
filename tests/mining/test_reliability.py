"""Confidences against what came true."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.reliability import Reliability

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()))


def reliability(pairs: list[tuple[float, bool]]) -> Reliability:
    found = Reliability()
    for confidence, came in pairs:
        found.add(confidence, came=came)
    return found


def test_a_row_says_mean_confidence_share_that_came_and_number() -> None:
    found = reliability([(0.62, True), (0.64, False), (0.05, False), (1.0, True)])
    assert found.table() == [[0.05, 0.0, 1], [0.63, 0.5, 2], [1.0, 1.0, 1]]


def test_the_error_weighs_each_tenth_by_its_candidates() -> None:
    assert reliability([(0.75, True), (0.25, False)]).error() == 0.25
    assert reliability([(0.5, True), (0.5, False)]).error() == 0.0
    assert reliability([]).error() == 0.0


@given(PAIRS)
def test_every_candidate_is_in_one_row_and_no_error_is_beyond_one(pairs: list[tuple[float, bool]]) -> None:
    found = reliability(pairs)
    numbers = [row[2] for row in found.table() if isinstance(row, list)]
    assert sum(number for number in numbers if isinstance(number, int)) == len(pairs)
    assert 0 <= found.error() <= 1
