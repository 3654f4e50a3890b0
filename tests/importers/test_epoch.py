"""Times in any usual unit and spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.values import Json
from paste_proxy.importers.epoch import between, epoch_seconds, seconds

NOON = 1_772_366_400.0


@pytest.mark.parametrize(
    "told",
    [
        "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000+00:00", "2026-03-01T13:00:00+01:00", "2026-03-01T12:00:00",
        NOON, int(NOON), int(NOON * 1e3), int(NOON * 1e6), int(NOON * 1e9), str(int(NOON * 1e9)),
        " 2026-03-01T12:00:00Z ",
    ],
)  # fmt: skip
def test_a_time_is_the_same_in_any_unit(told: Json) -> None:
    assert epoch_seconds(told) == NOON


@pytest.mark.parametrize("told", [None, True, "", "noon", "2026-13-01", 0, -1, float("inf"), 10**40, [], {}, "٣" * 10])
def test_what_is_no_time_is_none(told: Json) -> None:
    assert epoch_seconds(told) is None


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none()))
def test_nothing_raises(told: Json) -> None:
    epoch_seconds(told)
    seconds(told, per_second=1000)


def test_lengths_of_time() -> None:
    assert (between(1.0, 3.5), between(3.0, 1.0), between(None, 1.0), between(1.0, None)) == (2.5, None, None, None)
    assert (seconds(250, per_second=1000), seconds(-1), seconds("1"), seconds(True)) == (0.25, None, None, None)
