"""Load shaping inside of a real vLLM, as the engine's own metrics show it."""

import asyncio
import random
from typing import Any

import pytest

from paste_proxy.bench.tiny_dialogues import asks
from tests.engines.vllm_plugin.engine_world import Client, until

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

AT_ONCE = 4
"""The band's upper end is half of the engine's eight turns."""


async def long_turn(client: Client, name: str, begun: list[str], ended: list[str], **more: Any) -> None:
    asked = {"tools": None, "ignore_eos": True, "max_tokens": 50, **more}
    async with client.stream([asks(f"Hello! {name}")], **asked) as chunks:
        async for _ in chunks:
            if name not in begun:
                begun.append(name)
    ended.append(name)


async def test_turns_run_in_the_band_and_in_the_order_of_their_gain(client: Client) -> None:
    begun, ended = list[str](), list[str]()
    first = [
        asyncio.create_task(long_turn(client, f"first-{n}", begun, ended, max_tokens=105 + 5 * n))
        for n in range(AT_ONCE)
    ]

    async def full() -> bool:
        return len(begun) == AT_ONCE

    await until(full)
    gains = random.Random(7).sample(range(1, 30), 29)
    later = [
        asyncio.create_task(
            long_turn(client, f"gain-{gain}", begun, ended, vllm_xargs={"paste_gain": gain, "paste_pressure": 1})
        )
        for gain in gains
    ]
    seen, arrived = [], None
    while not all(task.done() for task in [*first, *later]):
        seen.append(await client.metrics("num_requests_running", "num_requests_waiting"))
        if arrived is None and len(begun) + seen[-1][1] >= AT_ONCE + len(gains):
            arrived = len(begun) + AT_ONCE
    await asyncio.gather(*first, *later)

    assert max(running for running, _ in seen) == AT_ONCE, "the engine has room for eight"
    assert max(waiting for _, waiting in seen) >= AT_ONCE
    refilled = [running for running, waiting in seen if waiting >= 1]
    assert sum(running < AT_ONCE - 1 for running in refilled) <= len(refilled) // 4, "refilled as each turn ends"
    settled = [int(name.removeprefix("gain-")) for name in begun[arrived:]]
    assert arrived is not None
    assert len(settled) >= AT_ONCE, "all of them had arrived while most of them waited"
    assert settled == sorted(settled, reverse=True)
    state = (await client.state())["load_shaping"]
    assert state["holding_steps"]
    assert state["reordered"]
    assert state["faults"] == 0


async def test_a_large_turn_is_taken_by_an_idle_engine(client: Client) -> None:
    answer = await client.chat([asks(" ".join(["Hello!"] * 60))], tools=None, max_tokens=300)
    assert answer["choices"][0]["finish_reason"] in ("stop", "length")
