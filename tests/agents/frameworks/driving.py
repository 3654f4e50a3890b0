"""Runs a driver in its environment, without and behind a sidecar."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.frameworks.chat import Chat, Message, chat, one_by_one
from tests.agents.frameworks.environments import HERE, REPOSITORY
from tests.agents.frameworks.live import PATIENCE_S, sidecar


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of a run."""

    bodies: list[dict[str, Any]]
    """Of the requests that the LLM got."""
    account: dict[str, Any]
    """What the driver told with its last line."""
    stats: dict[str, Any]
    """The sidecar's; empty without one."""


async def plain(python: Path, driver: Sequence[str], turns: Sequence[Message]) -> Told:
    """Run a driver by itself. Its LLM answers with `turns`, at once."""
    async with chat(one_by_one(turns), takes_s=0.0) as llm:
        return Told(bodies=llm.asked, account=await _drive(python, driver, llm), stats={})


async def behind(
    python: Path,
    driver: Sequence[str],
    turns: Sequence[Message],
    *,
    folder: Path,
    policy: str,
    patterns: str,
    llm_s: float,
) -> Told:
    """Run a driver whose LLM and tools are behind a sidecar; each answer of the LLM takes `llm_s` seconds."""
    async with chat(one_by_one(turns), takes_s=llm_s) as llm:
        routes = f'[[llm]]\npath = "/v1"\nupstream = "{llm.url}/v1"\n'
        async with sidecar(folder, routes=routes, policy=policy, patterns=patterns) as live:
            account = await _drive(python, driver, llm, PASTE_URL=live.url, LLM_URL=live.url)
            return Told(bodies=llm.asked, account=account, stats=await live.stats())


async def checked(python: Path, check: str) -> None:
    """Run a driver that asserts."""
    await _run(python, [check], {})


async def _drive(python: Path, driver: Sequence[str], llm: Chat, **env: str) -> dict[str, Any]:
    said = await _run(python, driver, {"LLM_URL": llm.url, "OPENAI_API_KEY": "none", **env})
    account: dict[str, Any] = json.loads(said.splitlines()[-1])
    return account


async def _run(python: Path, driver: Sequence[str], env: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *(str(python), "-W", "ignore", str(HERE / "drivers" / driver[0]), *driver[1:]),
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, err.decode()[-3_000:]
    return out.decode()
