"""The measurement, small: two live sidecars, one of them full of wrong guesses."""

from typing import Any, cast

import pytest
from rich.console import Console

from paste_proxy.bench.interference.guesses import pool_text
from paste_proxy.bench.interference.measure import measure
from paste_proxy.bench.interference.plan import COMPUTING, WAITING, Kind, Load
from paste_proxy.bench.interference.table import table
from paste_proxy.mining.storage import load_pool

PAIRS, CALLS = 2, 4


def test_the_pool_of_wrong_guesses_is_one_that_a_sidecar_reads() -> None:
    pool = load_pool(pool_text(), "wrong")
    assert {pattern.template.tool for pattern in pool.patterns} >= {"record", "pages/page", "workbench/run"}


@pytest.mark.parametrize("load", [WAITING, COMPUTING], ids=lambda load: load.name)
async def test_it_is_really_full_of_guesses_of_which_none_is_right(load: Load) -> None:
    blocks: list[str] = []
    found = cast("dict[str, Any]", await measure(PAIRS, calls=CALLS, loads=[load], on_block=blocks.append))
    assert blocks == [load.name] * 2 * PAIRS
    (told,) = found["loads"]
    filled = told["saturation"]
    assert filled["used"] > 0.6
    assert filled["full"] > 0.2
    assert filled["without_room"] > filled["launched"] > 2 * filled["slots"]
    assert filled["preempted"] > 0
    assert filled["reused"] + filled["promoted"] == 0
    assert told["all"]["calls"] == PAIRS * CALLS * len(load.agents)
    kinds = {kind.value for _, own in load.agents for kind in own}
    assert set(told["kinds"]) == kinds
    assert sum(figures["calls"] for figures in told["kinds"].values()) == told["all"]["calls"]
    for figures in (told["all"], *told["kinds"].values()):
        for side in ("off_ms", "on_ms"):
            assert 0 < figures[side]["p50"] <= figures[side]["p95"] <= figures[side]["p99"]
        assert all(one["low"] <= one["high"] for one in figures["ratio"].values())
    if load is WAITING:
        assert told["kinds"][Kind.HTTP]["beside_tool"]["off_ms"]["p50"] > 0
        assert told["kinds"][Kind.READ]["beside_tool"] is None
    shown = Console(width=140, record=True)
    shown.print(table(found))
    text = shown.export_text()
    assert all(name in text for name in ("slots used", *kinds))
