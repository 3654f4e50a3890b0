"""`paste-proxy tools` as a program, used by the official client."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import TextContent

from tests.peers.mcp_talk import Mode
from tests.tools.workbench.test_running import running

PATTERN = """[[pattern]]
id = "list-then-read"
tool = "workbench/read"
after = "ok workbench/list"
confidence = 0.9
arguments.path = { constant = "a.txt" }
"""


def tools(folder: Path, *options: str, cwd: Path | None = None) -> StdioServerParameters:
    """The command for a folder, with nothing of the machine's own configuration."""
    args = ["-m", "paste_proxy", "tools", "--workspace", str(folder), *options]
    return StdioServerParameters(command=sys.executable, args=args, cwd=cwd or folder.parent, env=dict(os.environ))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "a.txt").write_text("one\ntwo\n")
    return made


async def said(client: Client, tool: str, **arguments: Any) -> str:
    """The text of an answer, after `!` if it is a failure."""
    result = await client.call_tool(tool, arguments)
    (block,) = result.content
    assert isinstance(block, TextContent)
    return ("!" if result.is_error else "") + block.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_either_era_lists_and_uses_the_tools(folder: Path, mode: Mode) -> None:
    async with Client(tools(folder), mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed) == ["read", "list", "glob", "grep", "edit", "write", "run"]
        assert listed["read"].annotations is not None
        assert listed["read"].annotations.read_only_hint is True
        assert await said(client, "list") == "a.txt (8 bytes)"
        assert await said(client, "edit", path="a.txt", old_text="two", new_text="zwei") == "a.txt: replaced at line 2"
        assert await said(client, "read", path="a.txt") == "     1\tone\n     2\tzwei"
        assert await said(client, "grep", pattern="^z") == "a.txt:2:zwei"
        assert await said(client, "write", path="b/c.txt", content="x") == "b/c.txt: created, 1 bytes"
        assert await said(client, "glob", pattern="c.*") == "b/c.txt"
        assert await said(client, "run", command="cat c.txt; exit 3", cwd="b") == "[exit 3]\nx"


async def test_what_is_wrong_is_told_and_the_next_call_works(folder: Path) -> None:
    async with Client(tools(folder)) as client:
        assert await said(client, "read", path="../a.txt") == (
            f"!../a.txt lies outside of the workspace; name a path inside {folder}"
        )
        assert (await said(client, "read", file="a.txt")).startswith("!path: Field required")
        with pytest.raises(MCPError, match="there are read, list"):
            await client.call_tool("cat", {})
        assert await said(client, "run", command="exit 0") == "[exit 0]\n"


async def test_read_only_means_it(folder: Path) -> None:
    async with Client(tools(folder, "--read-only")) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["read", "list", "glob", "grep"]
        for tool, arguments in (("write", {"path": "a.txt", "content": ""}), ("run", {"command": "rm a.txt"})):
            with pytest.raises(MCPError, match="no such tool here"):
                await client.call_tool(tool, arguments)
    assert (folder / "a.txt").exists()


async def test_a_command_ends_with_the_call_that_is_given_up(folder: Path) -> None:
    async with Client(tools(folder)) as client:
        calling = asyncio.create_task(client.call_tool("run", {"command": "touch begun; sleep 333 & sleep 334"}))
        await until(lambda: (folder / "begun").exists())
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        await until(lambda: not running(folder))
        assert await said(client, "list") == "a.txt (8 bytes)\nbegun (0 bytes)"


async def test_a_command_ends_with_its_client(folder: Path) -> None:
    async with Client(tools(folder)) as client:
        calling = asyncio.create_task(client.call_tool("run", {"command": "touch begun; sleep 335"}))
        await until(lambda: (folder / "begun").exists())
    await asyncio.gather(calling, return_exceptions=True)
    await until(lambda: not running(folder))


async def test_large_answers_come_whole_or_say_what_is_missing(folder: Path) -> None:
    (folder / "big").write_text("x" * 99 + "\n" * 1)
    (folder / "wide").write_text("\n".join("y" * 1_500 for _ in range(200)))
    async with Client(tools(folder)) as client:
        assert "of output left out in the middle]" in await said(client, "run", command="head -c 9000000 /dev/zero")
        assert "to go on, read with offset" in await said(client, "read", path="wide")


async def test_in_a_folder_that_may_not_be_written_reading_works(folder: Path) -> None:
    ours = tools(folder)
    mount = f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}"
    private = ["unshare", "--mount", "--map-root-user", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    try:
        await asyncio.to_thread(subprocess.run, [*private, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no private mounts here")
    there = ours.model_copy(update={"command": private[0], "args": [*private[1:], ours.command, *ours.args]})
    async with Client(there) as client:
        assert await said(client, "read", path="a.txt") == "     1\tone\n     2\ttwo"
        assert "Read-only file system" in await said(client, "write", path="b.txt", content="x")
        assert (await said(client, "edit", path="a.txt", old_text="one", new_text="x")).startswith("!")
        assert (await said(client, "run", command="echo x > b.txt || echo no")).endswith("no\n")
    assert contents(folder) == {"a.txt": "one\ntwo\n"}


async def test_a_read_that_a_pattern_foresees_is_run_ahead_and_its_result_served(folder: Path) -> None:
    (folder.parent / "pattern.toml").write_text(PATTERN)
    (folder.parent / "paste.toml").write_text(
        'patterns = ["pattern.toml"]\n[speculation]\nmode = "speculate"\nmin_benefit_s = 0\n'
        '[recording]\ndirectory = "events"\n[learning]\nenabled = false\n'
    )
    plain = "     1\tone\n     2\ttwo"
    async with Client(tools(folder)) as client:
        await client.list_tools()
        for _ in range(20):
            await said(client, "list")
            await asyncio.sleep(0.1)  # the LLM is at work
            assert await said(client, "read", path="a.txt", offset=2) == plain.split("\n")[1]
            assert await said(client, "read", path="a.txt") == plain
            if served(folder.parent / "events"):
                break
        (ahead,) = served(folder.parent / "events")[:1]
        assert (ahead["source"], ahead["tool"]) == ("list-then-read", "workbench/read")
        await said(client, "list")
        await said(client, "write", path="a.txt", content="three\n")
        assert await said(client, "read", path="a.txt") == "     1\tthree"


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


async def until(happened: Any) -> None:
    async with asyncio.timeout(30):
        while not happened():  # noqa: ASYNC110 - a process of its own has no event for us
            await asyncio.sleep(0.02)


def served(events: Path) -> list[dict[str, Any]]:
    """Jobs run ahead whose results the client was given."""
    lines = [json.loads(line) for path in sorted(events.glob("*")) for line in path.read_text().split("\n")[:-1]]
    return [line for line in lines if line.get("outcome") in ("reused", "promoted")]
