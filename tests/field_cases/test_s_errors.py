"""Field cases of kind S: what went wrong answers no other call, through a whole sidecar and sockets."""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import ClientError

from paste_proxy.config import DispatchTool
from paste_proxy.events.types import Outcome
from tests.field_cases.mcp_world import endpoint, speculating
from tests.field_cases.tool_servers import OF_MCP, OVER_HTTP, Failing, FailingTool, result
from tests.proxy.mcp.client import McpHttpClient, rpc, said
from tests.proxy.mcp.parts import until

REUSED = '[[rule]]\ntool = ["s/look", "look"]\neffect = "read"\nreuse_s = 600\n'


@pytest.mark.parametrize("failure", OF_MCP)
async def test_b46_what_went_wrong_ahead_answers_nobody(tmp_path: Path, failure: str) -> None:
    server = Failing()
    async with endpoint(server) as there, speculating(tmp_path, "s/look", s=there) as world:
        client = await world.client("s").open()
        server.next.append(OF_MCP[failure])
        await world.run_ahead(("mcp__s__look", {"k": 1}))
        await until(lambda: world.tally.outcomes[Outcome.DISCARDED])
        assert said(await client.call("look", k=1)) == 'looked {"k": 1}'
        assert (world.served, len(server.calls("look"))) == (0, 2)
        await world.run_ahead(("mcp__s__look", {"k": 2}))
        assert said(await client.call("look", k=2)) == 'looked {"k": 2}'
        assert (world.served, len(server.calls("look"))) == (1, 3), "it is as good as any other again"


@pytest.mark.parametrize("failure", OVER_HTTP)
async def test_b46_so_it_is_with_a_tool_that_the_sidecar_calls_itself(tmp_path: Path, failure: str) -> None:
    tool = FailingTool()
    async with tool.listening() as url, speculating(tmp_path, "look", tools={"look": DispatchTool(url=url)}) as world:
        tool.next.append(OVER_HTTP[failure])
        await world.run_ahead(("look", {"k": 1}))
        await until(lambda: world.tally.outcomes[Outcome.DISCARDED])
        assert await world.dispatch("look", '{"k":1}') == (200, "answer 2, and what else is in it")
        assert world.served == 0
        await world.run_ahead(("look", {"k": 2}))
        assert await world.dispatch("look", '{"k":2}') == (200, "answer 3, and what else is in it")
        assert world.served == 1


async def test_b46_an_answer_that_is_late_answers_nobody(tmp_path: Path) -> None:
    tool = FailingTool()
    tool.gate.clear()
    async with tool.listening() as url:
        late = DispatchTool(url=url, timeout_s=0.1)
        async with speculating(tmp_path, "look", tools={"look": late}) as world:
            await world.run_ahead(("look", {"k": 1}))
            await until(lambda: world.tally.outcomes[Outcome.DISCARDED])
            tool.gate.set()
            assert await world.dispatch("look", '{"k":1}') == (200, "answer 2, and what else is in it")
            assert world.served == 0


@pytest.mark.parametrize("ending", ["sys.exit(1)", "os.abort()", "time.sleep(60)"])
async def test_b46_a_program_that_failed_or_was_stopped_answers_nobody(tmp_path: Path, ending: str) -> None:
    once = f"""
import os, sys, time
print("begun", flush=True)
if not os.path.exists({str(tmp_path / "once")!r}):
    open({str(tmp_path / "once")!r}, "w")
    {ending}
"""
    program = DispatchTool(command=(sys.executable, "-c", once), timeout_s=1)
    async with speculating(tmp_path, "look", tools={"look": program}) as world:
        await world.run_ahead(("look", {"k": 1}))
        await until(lambda: world.tally.outcomes[Outcome.DISCARDED])
        assert await world.dispatch("look", '{"k":1}') == (200, "begun\n")
        assert world.served == 0


@pytest.mark.parametrize("failure", OF_MCP)
async def test_b46_a_failure_that_the_agent_was_told_serves_no_later_call(tmp_path: Path, failure: str) -> None:
    server = Failing()
    async with endpoint(server) as there, speculating(tmp_path, rules=REUSED, s=there) as world:
        client = await world.client("s").open()
        server.next.append(OF_MCP[failure])
        await failing(client)
        for _ in range(2):
            assert said(await client.call("look", k=1)) == 'looked {"k": 1}'
        assert (world.served, len(server.calls("look"))) == (1, 2), "and a good answer does"


@pytest.mark.parametrize("failure", OVER_HTTP)
async def test_b46_so_it_is_with_what_the_sidecar_called_itself(tmp_path: Path, failure: str) -> None:
    tool = FailingTool()
    async with (
        tool.listening() as url,
        speculating(tmp_path, rules=REUSED, tools={"look": DispatchTool(url=url)}) as world,
    ):
        tool.next.append(OVER_HTTP[failure])
        assert (await world.dispatch("look", '{"k":1}'))[0] >= 400
        for _ in range(2):
            assert await world.dispatch("look", '{"k":1}') == (200, "answer 2, and what else is in it")
        assert world.served == 1


async def failing(client: McpHttpClient) -> None:
    """A call that goes wrong, in whatever way its client is told so."""
    body = rpc("tools/call", {"name": "look", "arguments": {"k": 1}}, 7)
    with suppress(OSError, ClientError):
        async with client.http.post(client.url, json=body, headers=client.headers) as answer:
            await answer.read()


@pytest.mark.parametrize("failure", OF_MCP)
async def test_b46_who_waited_for_a_call_that_went_wrong_gets_an_answer_of_its_own(
    tmp_path: Path, failure: str
) -> None:
    server = Failing()
    async with endpoint(server) as there, speculating(tmp_path, rules=REUSED, s=there) as world:
        client = await world.client("s").open()
        server.next.append(OF_MCP[failure])
        server.gate.clear()
        first = asyncio.create_task(failing(client))
        await until(lambda: server.calls("look"))
        others = [asyncio.create_task(client.call("look", k=1)) for _ in range(2)]
        await until(lambda: len(world.sidecar._scheduler._calls._calls) == 3)
        server.gate.set()
        await first
        assert [said(await other) for other in others] == ['looked {"k": 1}'] * 2
        assert len(server.calls("look")) == 2, "one of them went out, and the other waited for it"


async def test_b46_an_error_that_came_while_the_agent_waited_is_the_agent_s_and_no_later_call_s(tmp_path: Path) -> None:
    server = Failing()
    async with endpoint(server) as there, speculating(tmp_path, rules=REUSED, s=there) as world:
        client = await world.client("s").open()
        server.next.append(result({"isError": True}))
        server.gate.clear()
        await world.run_ahead(("mcp__s__look", {"k": 1}))
        waiting = asyncio.create_task(client.call("look", k=1))
        await until(lambda: world.sidecar._scheduler._calls._calls)
        server.gate.set()
        assert (await waiting)["result"]["isError"] is True
        assert (await client.call("look", k=1))["result"]["isError"] is False
        assert len(server.calls("look")) == 2


@pytest.mark.parametrize("failure", ["cut", "no answer", "half of it", "input wanted"])
async def test_b46_what_broke_while_the_agent_waited_is_tried_once_more_as_its_own_call(
    tmp_path: Path, failure: str
) -> None:
    server = Failing()
    async with endpoint(server) as there, speculating(tmp_path, rules=REUSED, s=there) as world:
        client = await world.client("s").open()
        server.next.append(OF_MCP[failure])
        server.gate.clear()
        await world.run_ahead(("mcp__s__look", {"k": 1}))
        waiting = asyncio.create_task(client.call("look", k=1))
        await until(lambda: world.sidecar._scheduler._calls._calls)
        server.gate.set()
        assert said(await waiting) == 'looked {"k": 1}'
        assert (world.served, len(server.calls("look"))) == (0, 2)
