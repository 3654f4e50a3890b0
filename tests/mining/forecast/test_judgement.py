"""What a judgement adds, and how it is kept."""

from dataclasses import replace
from math import tanh

import pytest

from paste_proxy.mining.forecast.judgement import FARTHEST, NO_JUDGEMENT, Judgement, matrix
from paste_proxy.mining.storage import dump_pool, load_pool
from paste_proxy.mining.window import Window
from tests.mining.worlds import POOL, SESSIONS

(MODEL,) = POOL.models


def test_it_is_a_network_of_one_hidden_layer() -> None:
    judgement = Judgement((1.0, 0.0), (2.0, 1.0), ((1.0, 0.0), (0.0, -1.0)), (0.5, 0.0), (2.0, 3.0))
    said = judgement(matrix([(3.0, 0.0), (1.0, 1.0), (1e9, 0.0)]))
    assert said == pytest.approx([2 * tanh(1.5), 2 * tanh(0.5) + 3 * tanh(-1), 2 * tanh(FARTHEST + 0.5)], abs=1e-5)


def test_without_any_nothing_is_added() -> None:
    assert NO_JUDGEMENT(matrix([(1.0,), (2.0,)])) == [0.0, 0.0]
    assert NO_JUDGEMENT(matrix([])) == []


def test_it_is_read_as_it_was_written() -> None:
    assert MODEL.soon.outer
    assert MODEL.later.outer
    (again,) = load_pool(dump_pool(POOL), "pool.json").models
    assert (again.soon, again.later) == (MODEL.soon, MODEL.later)
    assert again.finder.judged


def test_a_pool_without_one_measures_nothing() -> None:
    plain = replace(POOL, models=(replace(MODEL, soon=NO_JUDGEMENT, later=NO_JUDGEMENT),))
    (again,) = load_pool(dump_pool(plain), "pool.json").models
    window = Window()
    for event in SESSIONS[0].events[:4]:
        window.step(event)
    found = again.weigh(window, lambda tool: True)
    assert found
    assert all((one.measures, one.soon, one.later) == ((), 0.0, 0.0) for _, one, _ in found)
