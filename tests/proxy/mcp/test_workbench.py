"""Our own tools behind `/mcp/NAME` of a whole sidecar."""

from pathlib import Path

import pytest
from mcp import Client
from mcp.types import TextContent

from paste_proxy.config import McpServer
from paste_proxy.proxy.mcp.probe import probe
from tests.field_cases.mcp_world import speculating
from tests.peers.mcp_talk import Mode
from tests.proxy.mcp.client import said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "a.txt").write_text("one\ntwo\n")
    return made


async def test_what_the_llm_asks_for_is_read_ahead_and_a_write_makes_it_void(tmp_path: Path, folder: Path) -> None:
    async with speculating(tmp_path, "workbench/read", workbench=McpServer(workbench=folder)) as world:
        client = await world.client("workbench").open()
        plain = await client.call("read", path="a.txt")
        await world.run_ahead(("mcp__workbench__read", {"path": "a.txt"}))
        assert await client.call("read", path="a.txt") == plain
        assert world.served == 1
        await world.run_ahead(("mcp__workbench__read", {"path": "a.txt"}))
        await client.call("edit", path="a.txt", old_text="one", new_text="eins")
        assert said(await client.call("read", path="a.txt")) == "     1\teins\n     2\ttwo"
        assert world.served == 1


async def test_gemini_s_own_argument_is_no_part_of_a_call(tmp_path: Path, folder: Path) -> None:
    async with speculating(tmp_path, "workbench/read", workbench=McpServer(workbench=folder)) as world:
        client = await world.client("workbench").open()
        await client.call("read", path="a.txt", wait_for_previous=True)
        await world.run_ahead(("mcp_workbench_read", {"path": "a.txt", "wait_for_previous": False}))
        await client.call("read", path="a.txt", wait_for_previous=True)
        assert world.served == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_either_era_uses_them(tmp_path: Path, folder: Path, mode: Mode) -> None:
    async with (
        speculating(tmp_path, workbench=McpServer(workbench=folder, env={"OURS": "x"})) as world,
        Client(f"{world.base}/mcp/workbench", mode=mode) as client,
    ):
        assert len((await client.list_tools()).tools) == 7
        (block,) = (await client.call_tool("run", {"command": "echo $OURS; pwd"})).content
        assert isinstance(block, TextContent)
        assert block.text == f"[exit 0]\nx\n{folder}\n"


async def test_a_doctor_finds_its_tools(folder: Path) -> None:
    found = await probe("w", McpServer(workbench=folder, read_only=True))
    assert isinstance(found, tuple)
    assert [tool.name for tool in found] == ["read", "list", "glob", "grep"]
