"""A meeting of the real Virtual-Lab, without and behind a sidecar."""

import asyncio
from pathlib import Path

import pytest

from tests.agents.frameworks.chat import calling
from tests.agents.frameworks.driving import behind, plain
from tests.agents.frameworks.environments import python_with

POLICY = """
[[rule]]
tool = "pubmed_search"
effect = "read"
reads = ["pubmed"]
expected_s = 0.4
"""
TURNS = (
    calling(
        ("call_1", "pubmed_search", {"query": "nanobody binding"}),
        ("call_2", "pubmed_search", {"query": "spike epitopes", "num_articles": 1}),
        ("call_3", "pubmed_search", {"query": "escape", "abstract_only": True}),
    ),
    {"content": "Two of these papers matter."},
    {"content": "Be more careful."},
    calling(("call_1", "pubmed_search", {"query": "neutralisation assays"})),
    {"content": "One paper is left."},
)
"""The scientist, who searches and speaks; the critic; the scientist again."""


@pytest.mark.peer
@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_meetings_minutes_are_the_same_and_its_further_searches_do_not_wait(tmp_path: Path) -> None:
    python = await asyncio.to_thread(python_with, "virtual-lab", at_least=(3, 12))
    minutes = [tmp_path / name for name in ("plain", "behind")]
    without = await plain(python, ["run_virtual_lab.py", str(minutes[0])], TURNS)
    driver = ["run_virtual_lab.py", str(minutes[1])]
    told = await behind(python, driver, TURNS, folder=tmp_path, policy=POLICY, patterns="", llm_s=0.1)
    for name in ("discussion.json", "discussion.md"):
        assert (minutes[0] / name).read_bytes() == (minutes[1] / name).read_bytes()
    assert told.bodies == without.bodies
    assert told.account["searched"] == without.account["searched"]
    assert len(told.account["searched"]) == told.account["calls"] == 4
    assert told.account["reused"] + told.account["promoted"] >= 2, "the second and third search of the turn"
    assert told.account["reused"] >= 1
    assert [told.account[name] for name in ("unreadable", "slow", "missing", "broken")] == [0, 0, 0, 0]
    assert told.stats["saved_s"] > 0
