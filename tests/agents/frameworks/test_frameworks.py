"""Agents of the real frameworks, without and behind a sidecar: the same conversation, sooner."""

import asyncio
from pathlib import Path

import pytest

from tests.agents.frameworks.chat import Message, calling
from tests.agents.frameworks.driving import behind, checked, plain
from tests.agents.frameworks.environments import python_with

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(600)]

POLICY = """
[[rule]]
tool = ["look", "count"]
effect = "read"
expected_s = 0.3
"""
PATTERNS = """
[[pattern]]
id = "what was counted is looked at"
tool = "look"
after = "ok count"
confidence = 0.6
arguments.place = { from = "call", tool = "count", take = "/words" }
"""
LLM_S = 0.6
FINAL: Message = {"content": "All is calm but the quay."}
TURNS = (
    calling(("call_1", "count", {"words": "harbour"})),
    calling(("call_2", "look", {"place": "harbour"}), ("call_3", "look", {"place": "tide", "deep": True})),
    calling(("call_4", "look", {"place": "quay"})),
    FINAL,
)
"""The harbour is looked at ahead, while the LLM thinks; the quay is closed."""


@pytest.mark.parametrize(
    ("group", "driver", "final"),
    [
        ("agents", ["run_openai_agents.py"], FINAL),
        ("agents", ["run_pydantic_ai.py"], FINAL),
        ("agents", ["run_langgraph.py"], FINAL),
        ("agents", ["run_langgraph.py", "async"], FINAL),
        ("agents", ["run_smolagents.py"], calling(("call_5", "final_answer", {"answer": FINAL["content"]}))),
        ("adk", ["run_google_adk.py"], FINAL),
    ],
    ids=["openai-agents", "pydantic-ai", "langgraph", "langgraph-async", "smolagents", "google-adk"],
)
async def test_an_agent_is_told_the_same_and_a_result_was_there_before_it_asked(
    group: str, driver: list[str], final: Message, tmp_path: Path
) -> None:
    python = await asyncio.to_thread(python_with, group)
    turns = (*TURNS[:-1], final)
    without = await plain(python, driver, turns)
    told = await behind(python, driver, turns, folder=tmp_path, policy=POLICY, patterns=PATTERNS, llm_s=LLM_S)
    assert len(without.bodies) == len(turns)
    assert told.bodies == without.bodies
    assert told.account["ran"] == without.account["ran"] == ["harbour", "quay", "tide"], "each look once"
    assert told.account["calls"] == 4
    assert told.account["reused"] >= 1
    assert [told.account[name] for name in ("unreadable", "slow", "missing", "broken")] == [0, 0, 0, 0]
    assert told.stats["sessions"] == 1
    assert told.stats["saved_s"] > 0


@pytest.mark.parametrize(
    ("group", "check"),
    [
        ("agents", "check_openai_agents.py"),
        ("agents", "check_langchain.py"),
        ("agents", "check_pydantic_ai.py"),
        ("agents", "check_smolagents.py"),
        ("adk", "check_google_adk.py"),
    ],
)
async def test_what_surrounds_a_tool_stays_around_it(group: str, check: str) -> None:
    await checked(await asyncio.to_thread(python_with, group), check)
