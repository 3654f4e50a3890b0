"""A whole sidecar gets ready for calls that it may not run ahead."""

from pathlib import Path

import aiohttp
import pytest

from paste_proxy.config import Config, DispatchTool, McpServer
from paste_proxy.events.invocation import Invocation
from paste_proxy.proxy.dispatch.tools import configured_tools
from paste_proxy.proxy.mcp.speculators import over_http
from paste_proxy.speculation.preparation import Preparation
from paste_proxy.tools.backend import Preparing
from paste_proxy.tools.connections import Connections
from paste_proxy.tools.mcp_hello import Hello
from paste_proxy.wire.mcp import Era
from tests.field_cases.mcp_world import World, speculating
from tests.proxy.mcp.client import said
from tests.proxy.mcp.parts import until

FILES = """
[[rule]]
tool = "workbench/edit"
effect = "write"
prepare = ["files"]
"""
DRY = """
[[rule]]
tool = "workbench/write"
effect = "write"
approval = true
rehearse = { set = { dry_run = true } }

[[rule]]
tool = "workbench/run"
commands = ["touch *"]
effect = "write"
approval = true
same = { shell = { command = "command", folder = "cwd" } }
rehearse = { option = "--help" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "a.txt").write_text("one\n")
    return made


def counts(world: World, kind: str) -> tuple[int, int, int]:
    """What was prepared, failed and found."""
    tally = world.tally.preparations
    return tally.prepared[kind], tally.failed[kind], tally.found[kind]


async def test_the_file_of_an_edit_that_the_llm_writes_is_read_ahead(tmp_path: Path, folder: Path) -> None:
    async with speculating(tmp_path, rules=FILES, workbench=McpServer(workbench=folder)) as world:
        client = await world.client("workbench").open()
        edit = {"path": "a.txt", "old_text": "one", "new_text": "two"}
        await world.llm_asks(("mcp__workbench__edit", edit))
        await until(lambda: counts(world, "files") == (1, 0, 0))
        assert world.tally.launched == 0
        await client.call("edit", **edit)
        assert (folder / "a.txt").read_text() == "two\n"
        assert counts(world, "files") == (1, 0, 1)


async def test_a_command_is_rehearsed_with_its_option_and_done_when_it_is_asked_for(
    tmp_path: Path, folder: Path
) -> None:
    async with speculating(tmp_path, rules=DRY, workbench=McpServer(workbench=folder)) as world:
        client = await world.client("workbench").open()
        await world.llm_asks(("mcp__workbench__run", {"command": "touch b.txt"}))
        await world.settled()
        (job,) = world.sidecar._scheduler._state.ledger.unpromoted()
        assert job.invocation.arguments["command"] == "touch --help b.txt"
        await until(lambda: job.ended_at is not None)
        assert not (folder / "b.txt").exists()
        assert said(await client.call("run", command="touch b.txt")).startswith("[exit 0]")
        assert (folder / "b.txt").exists()
        assert (world.served, counts(world, "rehearsal")) == (0, (1, 0, 1))


async def test_a_tool_that_does_not_list_the_argument_is_not_asked(tmp_path: Path, folder: Path) -> None:
    async with speculating(tmp_path, rules=DRY, workbench=McpServer(workbench=folder)) as world:
        await world.client("workbench").open()
        await world.llm_asks(("mcp__workbench__write", {"path": "b.txt", "content": "x"}))
        await world.settled()
        assert world.tally.refused == {"approval": 1}
        assert not world.sidecar._scheduler._state.ledger.unpromoted()
        assert not (folder / "b.txt").exists()


async def test_tools_behind_addresses_need_a_connection_to_them() -> None:
    tools = {
        "far": DispatchTool(url="https://api.example.com/far"),
        "near": DispatchTool(url="http://127.0.0.1:1/near"),
        "program": DispatchTool(command=("true",)),
    }
    async with aiohttp.ClientSession(connector=Connections()) as session:
        backend = configured_tools(Config(tools=tools), session)
        needs = {name: [each.need.kind for each in backend.needs(Invocation(name, {}))] for name in (*tools, "none")}
    assert needs == {"far": [Preparation.CONNECTION], "near": [], "program": [], "none": []}


@pytest.mark.parametrize(("url", "kinds"), [("https://mcp.example.com", ["connection"]), ("http://127.0.0.1:1", [])])
async def test_mcp_servers_behind_addresses_do_too(url: str, kinds: list[str]) -> None:
    hello = Hello(era=Era.SESSION, introduction=b"{}", version="2025-11-25")
    async with aiohttp.ClientSession(connector=Connections()) as session:
        for opens in (False, True):
            make = over_http("s", McpServer(url=url), session, url, 1000, opens=opens)
            backend = make(lambda: hello, dict)
            assert isinstance(backend, Preparing)
            found = [each.need.kind.value for each in backend.needs(Invocation("s/look", {}))]
            assert found == [*kinds, *(["session"] if opens else [])]
