"""A recorded session lived twice in the project, through real sidecars."""

import asyncio
from pathlib import Path

from paste_proxy.bench.coding.compare import compare, picked
from paste_proxy.bench.coding.lived import live
from paste_proxy.bench.coding.playing import POOL, without_times
from paste_proxy.bench.script import Script
from paste_proxy.bench.workload import Workload, packaged_tasks
from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.proxy.named_files import read_patterns
from tests.bench.test_demo import FIXED

PATTERN = """[[pattern]]
id = "p"
tool = "workbench/read"
after = "ok workbench/edit"
confidence = 0.9
arguments.path = { constant = "core/sieve.py" }
"""


def scripts() -> list[Script]:
    return picked(task.script for task in packaged_tasks([Workload.CODING]))


async def test_both_sides_see_the_same_and_the_object_has_the_fixed_keys(tmp_path: Path) -> None:
    pattern = tmp_path / "pattern.toml"
    await asyncio.to_thread(pattern.write_text, PATTERN)
    played = await asyncio.to_thread(scripts)
    comparison = await compare(played[:2], tmp_path / "project", speed=60.0, steps=4, pool=pattern)
    told = comparison.to_json()
    assert comparison.views_equal
    assert told.keys() >= FIXED | {"ceiling", "staging"}
    assert (told["sessions"], told["calls"]) == (2, 8)
    assert comparison.baseline.stats["hits"] == 0


async def test_a_lived_session_has_real_outputs(tmp_path: Path) -> None:
    script = min(await asyncio.to_thread(scripts), key=lambda script: len(script.calls))
    short = Script(session=script.session, turns=script.turns[:2])
    (lived,) = await live([short], tmp_path)
    calls = [event for event in lived.events if isinstance(event, ToolCall)]
    outputs = [event for event in lived.events if isinstance(event, ToolOutput)]
    assert len(calls) == len(outputs) == 2
    assert all(event.status == "ok" and event.duration_s for event in outputs)


def test_what_a_test_runner_says_of_its_time_is_not_seen() -> None:
    one, other = (f"[exit 0]\n....\nRan 4 tests in {time}s\n\nOK\n".encode() for time in ("0.123", "12.001"))
    assert without_times(one) == without_times(other) != one


def test_the_patterns_that_come_along_are_of_our_own_tools() -> None:
    assert {tool.partition("/")[0] for tool in read_patterns(str(POOL)).tools} == {"workbench"}
