"""A running sidecar counts what it foresaw and must not run ahead."""

import asyncio
from pathlib import Path

import pytest

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config
from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.mine import mine
from paste_proxy.mining.storage import dump_pool
from paste_proxy.proxy.composition import Sidecar
from tests.mining.test_glimpse import orders
from tests.mining.test_predict import NAMES

from .test_learning import NeverRun, call, thought_over

POLICY = """
[[rule]]
tool = ["list", "look"]
effect = "read"

[[rule]]
tool = "cancel"
effect = "write"
"""


async def test_writes_that_a_rule_names_are_foreseen_and_counted(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "pool.json").write_text(dump_pool(mine([orders(name) for name in NAMES])))
    names = {"policies": (str(tmp_path / "policy.toml"),), "patterns": (str(tmp_path / "pool.json"),)}
    made = await asyncio.to_thread(lambda: Sidecar(Config.model_validate(names), SystemClock()))
    living = made.living()
    await anext(living)
    made.hub.offer("", "", NeverRun(), ["list", "look", "cancel"])
    await call(made, "s", Invocation("list", {"customer": "x"}), '{"orders": ["x-1", "x-2"]}')
    await call(made, "s", Invocation("look", {"id": "x-1"}), "open")
    await thought_over(made)
    assert made.tally.refused["policy"] == made.tally.side_effecting > 0
    assert [one for one in made.tally.opportunities(3) if one.tool == "cancel"] == [], "nothing would have allowed it"
    with pytest.raises(StopAsyncIteration):
        await anext(living)
