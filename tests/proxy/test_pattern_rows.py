"""`/paste/v1/patterns`: what each pattern is, what came of it, in portions."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from paste_proxy.config import Config, Learning
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Outcome
from paste_proxy.mining.forecast.lessons import Lesson
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.memory import Memory
from paste_proxy.speculation.types import Settled
from paste_proxy.testing import FakeClock

WRITTEN = """
[[pattern]]
id = "first-result"
tool = "fetch"
after = "ok search"
confidence = 0.4
arguments.url = { from = "output", tool = "search", take = "url" }

[[pattern]]
id = "again"
tool = "look"
confidence = 0.1
repeat = true
"""


def settled(source: str, outcome: Outcome) -> Settled:
    return Settled(
        job=1,
        session="s",
        invocation=Invocation("fetch", {}),
        source=source,
        confidence=0.5,
        outcome=outcome,
        ran_s=1.0,
        saved_s=1.0,
        shadow=False,
    )


async def world(folder: Path, **learned: float) -> tuple[Sidecar, web.Application, FakeClock]:
    clock = FakeClock()
    (folder / "p.toml").write_text(WRITTEN)
    wanted = Learning(general=False, directory=folder / "memory", workspace=folder)
    config = Config(patterns=(str(folder / "p.toml"),), learning=wanted)
    memory = await asyncio.to_thread(Memory, config, clock)
    for place in memory.places[:1]:
        place.moments = 1
        place.ever.of |= {f"P:{pattern}": Lesson(weight, 1.0) for pattern, weight in learned.items()}
    await memory.save()
    sidecar = await asyncio.to_thread(Sidecar, config, clock)
    return sidecar, build_app(config, sidecar.parts()), clock


async def asked(app: web.Application, query: str = "") -> tuple[int, str | None, Any]:
    async with TestClient(TestServer(app)) as client, client.get(f"/paste/v1/patterns{query}") as answer:
        return answer.status, answer.headers.get("x-paste-total"), json.loads(await answer.read())


async def test_a_pattern_is_told_in_notation_and_in_words_with_what_it_stands_on(tmp_path: Path) -> None:
    _, app, _ = await world(tmp_path)
    status, total, (fetch, look) = await asked(app)
    assert (status, total) == (200, "2")
    assert (fetch["id"], fetch["tool"], fetch["groups"]) == ("first-result", "fetch", 0)
    assert fetch["arguments"] == {"url": {"from": "output", "tool": "search", "take": "url"}}
    assert fetch["in_words"] == {"url": "a link of the latest answer of search"}
    best, _ = fetch["contexts"]
    assert best == {"context": "ok search", "in_words": "after search answered", "seen": 40, "next": 16, "ever": 16}
    assert (fetch["support"], fetch["confidence"], fetch["weighed"]) == (40, 0.4, False)
    assert (look["repeat"], look["arguments"], look["in_words"]) == (True, None, {})
    assert (look["hits"], look["vain"], look["last_hit"]) == (0, 0, None)


async def test_what_came_of_it_and_what_sessions_made_of_it_is_told(tmp_path: Path) -> None:
    sidecar, app, clock = await world(tmp_path, **{"first-result": -1.5, "again": 0.8})
    for outcome in (Outcome.REUSED, Outcome.DISCARDED, Outcome.PROMOTED):
        clock.advance(1.0)
        sidecar.tally.settled(settled("first-result", outcome))
    _, _, (fetch, look) = await asked(app)
    assert (fetch["hits"], fetch["vain"], fetch["last_hit"]) == (2, 1, round(clock.epoch(), 3))
    assert fetch["learned"] == {"next": 0.0, "ever": -1.5, "state": "demoted"}
    assert look["learned"]["state"] == "promoted"


@pytest.mark.parametrize(
    ("query", "total", "ids"),
    [
        ("?tool=look", "1", ["again"]),
        ("?tool=none", "0", []),
        ("?limit=1", "2", ["first-result"]),
        ("?limit=1&offset=1", "2", ["again"]),
        ("?offset=9", "2", []),
    ],
)
async def test_portions_are_asked_for_by_tool_and_number(
    tmp_path: Path, query: str, total: str, ids: list[str]
) -> None:
    _, app, _ = await world(tmp_path)
    status, counted, rows = await asked(app, query)
    assert (status, counted, [row["id"] for row in rows]) == (200, total, ids)


@pytest.mark.parametrize("query", ["?limit=0", "?limit=1001", "?limit=x", "?offset=-1", "?limit=²", "?tools=a"])
async def test_a_query_that_means_nothing_is_refused_in_words(tmp_path: Path, query: str) -> None:
    _, app, _ = await world(tmp_path)
    status, _, body = await asked(app, query)
    assert (status, body["error"]["code"]) == (400, "bad_query")
    assert query[1:].partition("=")[0] in body["error"]["message"]
