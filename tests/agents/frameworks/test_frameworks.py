"""Agents of the real frameworks, without and behind a sidecar: the same conversation, sooner."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.agents.frameworks.chat import Chat, Message, calling, chat, one_by_one
from tests.agents.frameworks.environments import HERE, REPOSITORY, python_with
from tests.agents.frameworks.live import PATIENCE_S, sidecar

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


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a run."""

    bodies: list[dict[str, Any]]
    """Of the requests that the LLM got."""
    account: dict[str, Any]


async def drive(python: Path, driver: Sequence[str], llm: Chat, **env: str) -> dict[str, Any]:
    """Run a driver; gives what it tells with its last line."""
    process = await asyncio.create_subprocess_exec(
        *(str(python), "-W", "ignore", str(HERE / "drivers" / driver[0]), *driver[1:]),
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "LLM_URL": llm.url, "OPENAI_API_KEY": "none", **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 0, err.decode()[-3_000:]
    account: dict[str, Any] = json.loads(out.decode().splitlines()[-1])
    return account


async def plain(python: Path, driver: Sequence[str], turns: Sequence[Message]) -> Told:
    async with chat(one_by_one(turns), takes_s=0.0) as llm:
        return Told(llm.asked, await drive(python, driver, llm))


async def behind(python: Path, driver: Sequence[str], turns: Sequence[Message], folder: Path) -> tuple[Told, Any]:
    async with chat(one_by_one(turns), takes_s=LLM_S) as llm:
        routes = f'[[llm]]\npath = "/v1"\nupstream = "{llm.url}/v1"\n'
        async with sidecar(folder, routes=routes, policy=POLICY, patterns=PATTERNS) as live:
            env = {"PASTE_URL": live.url, "LLM_URL": live.url}
            return Told(llm.asked, await drive(python, driver, llm, **env)), await live.stats()


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
    told, stats = await behind(python, driver, turns, tmp_path)
    assert len(without.bodies) == len(turns)
    assert told.bodies == without.bodies
    assert told.account["ran"] == without.account["ran"] == ["harbour", "quay", "tide"], "each look once"
    assert told.account["calls"] == 4
    assert told.account["reused"] >= 1
    assert [told.account[name] for name in ("unreadable", "slow", "missing", "broken")] == [0, 0, 0, 0]
    assert stats["sessions"] == 1
    assert stats["saved_s"] > 0
