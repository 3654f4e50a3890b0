"""Field cases of kind S: nothing read before a write answers a call after it, through a whole sidecar and sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from paste_proxy.config import DispatchTool
from paste_proxy.events.types import Outcome
from tests.field_cases.mcp_world import World, endpoint, speculating
from tests.field_cases.tool_servers import FailingTool, Store
from tests.proxy.mcp.client import McpHttpClient, said
from tests.proxy.mcp.parts import until

STORE = """
[[rule]]
tool = ["s/get"]
effect = "read"
reads = ["store"]

[[rule]]
tool = ["s/set", "edit", "t/set"]
effect = "write"
writes = ["store"]
"""
AGAIN = STORE.replace('effect = "read"', 'effect = "read"\nreuse_s = 600')
WRITES = ("a known write", "an unknown tool", "another server's", "a tool nobody owns", "the client's own", "unseen")


@asynccontextmanager
async def storing(folder: Path, *, rules: str = STORE) -> AsyncIterator[tuple[World, Store, McpHttpClient]]:
    """A value behind server `s`, which also server `t`, the tool `edit` and the client's own tools can write."""
    store = Store("set", "mystery")
    async with FailingTool().listening() as url, endpoint(store) as there:
        tools = {"edit": DispatchTool(url=url), "mystery": DispatchTool(url=url)}
        async with speculating(folder, rules=rules, tools=tools, s=there, t=there) as world:
            yield world, store, await world.client("s").open()


async def write(world: World, store: Store, kind: str) -> None:
    """Write the value, along one of the ways there are."""
    match kind:
        case "a known write":
            await (await world.client("s").open()).call("set")
        case "an unknown tool":
            await (await world.client("s").open()).call("mystery")
        case "another server's":
            await (await world.client("t").open()).call("set")
        case "a tool nobody owns":
            store.value += 1
            await world.dispatch("mystery", "{}")
        case "another session's":
            store.value += 1
            await world.dispatch("edit", "{}", session="task-2")
        case "the client's own":  # it runs past the sidecar, as soon as the LLM has asked for it
            await world.llm_asks(("str_replace", {"path": "a"}))
            store.value += 1
        case "unseen":  # only what the next request tells of it is seen
            store.value += 1
            await world.told_of("bash")


@pytest.mark.parametrize("kind", [*WRITES, "another session's"])
async def test_b48_what_was_read_ahead_of_a_write_answers_nothing_after_it(tmp_path: Path, kind: str) -> None:
    async with storing(tmp_path) as (world, store, client):
        await world.run_ahead(("mcp__s__get", {}))
        assert said(await client.call("get")) == "value 0"
        assert world.served == 1
        await world.run_ahead(("mcp__s__get", {}))
        await until(lambda: store.begun["get"] == 2)
        await write(world, store, kind)
        assert said(await client.call("get")) == "value 1"
        assert world.served == 1


@pytest.mark.parametrize("kind", [*WRITES, "another session's"])
async def test_b48_nor_does_what_the_agent_read_itself_before(tmp_path: Path, kind: str) -> None:
    async with storing(tmp_path, rules=AGAIN) as (world, store, client):
        for _ in range(2):
            assert said(await client.call("get")) == "value 0"
        assert (world.served, store.begun["get"]) == (1, 1)
        await write(world, store, kind)
        assert said(await client.call("get")) == "value 1"


@pytest.mark.parametrize("tool", ["set", "mystery"])
async def test_b48_while_a_write_runs_nothing_is_read_ahead_of_its_end(tmp_path: Path, tool: str) -> None:
    async with storing(tmp_path) as (world, store, client):
        await world.run_ahead(("mcp__s__get", {}))
        gate = store.hold(tool)
        writing = asyncio.create_task(client.call(tool))
        await until(lambda: store.begun[tool])
        await world.llm_asks(("mcp__s__get", {}))
        await world.settled()
        assert (world.tally.launched, world.tally.refused["write_in_flight"]) == (1, 1)
        assert said(await client.call("get")) == "value 0", "what it is now, from the server"
        assert (world.served, store.begun["get"]) == (0, 2)
        gate.set()
        await writing
        await until(lambda: store.begun["get"] == 3)
        assert said(await client.call("get")) == "value 1"
        assert store.begun["get"] == 3, "read as soon as the write was over"


@pytest.mark.parametrize("tool", ["set", "mystery"])
async def test_b48_what_is_being_read_when_a_write_begins_answers_nothing(tmp_path: Path, tool: str) -> None:
    async with storing(tmp_path) as (world, store, client):
        reading = store.hold("get")
        await world.run_ahead(("mcp__s__get", {}))
        await until(lambda: store.begun["get"])
        await client.call(tool)
        reading.set()
        assert said(await client.call("get")) == "value 1"
        assert (world.served, store.begun["get"]) == (0, 2)


@pytest.mark.parametrize("tool", ["set", "mystery"])
async def test_b48_a_reader_waits_for_no_reading_that_began_before_a_write(tmp_path: Path, tool: str) -> None:
    async with storing(tmp_path, rules=AGAIN) as (world, store, client):
        reading = store.hold("get")
        first = asyncio.create_task(client.call("get"))
        await until(lambda: store.begun["get"])
        await client.call(tool)
        second = asyncio.create_task(client.call("get"))
        await until(lambda: store.begun["get"] == 2)
        reading.set()
        assert [said(await first), said(await second)] == ["value 0", "value 1"]
        assert said(await client.call("get")) == "value 1"
        assert world.served == 1


async def test_b48_a_write_whose_end_nobody_saw_goes_on(tmp_path: Path) -> None:
    async with storing(tmp_path) as (world, store, client):
        store.hold("set")
        writing = asyncio.create_task(client.call("set"))
        await until(lambda: store.begun["set"])
        writing.cancel()
        await until(lambda: not world.sidecar._scheduler._calls._calls)
        await world.llm_asks(("mcp__s__get", {}))
        await world.settled()
        assert (world.tally.launched, world.tally.refused["write_in_flight"]) == (0, 1)


async def test_b48_what_nobody_asks_for_in_time_answers_nothing(tmp_path: Path) -> None:
    async with storing(tmp_path, rules=STORE.replace("effect", "ttl_s = 0.05\neffect", 1)) as (world, store, client):
        await world.run_ahead(("mcp__s__get", {}))
        await until(lambda: world.tally.outcomes[Outcome.DISCARDED])
        store.value = 1
        assert said(await client.call("get")) == "value 1"
        assert world.served == 0
