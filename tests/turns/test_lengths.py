"""What an answer is expected to come to."""

import pytest

from paste_proxy.turns.lengths import Lengths


def test_a_session_is_expected_to_go_on_as_it_did() -> None:
    lengths = Lengths()
    for _ in range(20):
        lengths.seen("long", 900.0)
        lengths.seen("short", 30.0)
    assert lengths.expected("long") == pytest.approx(900.0, rel=0.1)
    assert lengths.expected("short") < 100.0


def test_a_new_session_is_expected_to_go_on_as_all_did() -> None:
    lengths = Lengths()
    before = lengths.expected("new")
    for _ in range(64):
        lengths.seen("other", 900.0)
    assert before < lengths.expected("new") <= 900.0


def test_one_that_is_over_is_forgotten() -> None:
    lengths = Lengths()
    lengths.seen("one", 10_000.0)
    lengths.seen("other", 10.0)
    lengths.forget("one")
    assert lengths.expected("one") == lengths.expected("new")
