"""The official servers behind a whole sidecar."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.types import ListRootsResult, Root
from pydantic import FileUrl

from paste_proxy.config import McpServer
from tests.field_cases.mcp_world import endpoint, speculating
from tests.peers.mcp_talk import free_port, running
from tests.peers.npm import everything_command, filesystem_command
from tests.proxy.mcp.client import said
from tests.proxy.mcp.http_server import McpHttpServer

pytestmark = pytest.mark.peer


async def test_gemini_s_own_argument_is_no_part_of_a_call_to_the_official_servers(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    first, second = tmp_path / "files" / "a.txt", tmp_path / "files" / "b.txt"
    first.write_text("eins\n")
    second.write_text("zwei\n")
    port = free_port()
    files = McpServer(command=filesystem_command(first.parent))
    async with (
        running(everything_command("streamableHttp"), port, PORT=str(port)) as url,
        speculating(tmp_path, "fs/read_text_file", "all/echo", fs=files, all=McpServer(url=url)) as world,
    ):
        for server, tool, name, values in (
            ("fs", "read_text_file", "path", (str(first), str(second))),
            ("all", "echo", "message", ("eins", "zwei")),
        ):
            client = await world.client(server).open()
            assert "eins" in said(await client.call(tool, **{name: values[0]}, wait_for_previous=True))
            served = world.served
            await world.run_ahead((f"mcp_{server}_{tool}", {name: values[1], "wait_for_previous": False}))
            ahead = await client.call(tool, **{name: values[1]}, wait_for_previous=True)
            assert world.served == served + 1
            assert await client.call(tool, **{name: values[1]}, wait_for_previous=True) == ahead
            assert world.served == served + 1


async def test_an_argument_that_its_server_refuses_stays_part_of_the_call(tmp_path: Path) -> None:
    server = McpHttpServer()
    server.knows_unknown = False
    server.tools["look"] = {"type": "object", "properties": {"k": {}}, "additionalProperties": False}
    async with endpoint(server) as there, speculating(tmp_path, "s/look", s=there) as world:
        client = await world.client("s").open()
        for number in range(2):
            await world.run_ahead(("mcp_s_look", {"k": number}))
            assert (await client.call("look", k=number, wait_for_previous=True))["result"]["isError"] is True
        assert world.served == 0


async def test_a_server_over_http_that_runs_ahead_is_given_the_client_s_roots(tmp_path: Path) -> None:
    port = free_port()

    async def our_roots(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(f"file://{tmp_path}"), name="ours")])

    async with (
        running(everything_command("streamableHttp"), port, PORT=str(port)) as url,
        speculating(tmp_path, "all/get-roots-list", all=McpServer(url=url)) as world,
        Client(f"{world.base}/mcp/all", mode="legacy", list_roots_callback=our_roots) as client,
    ):
        plain: Any = None
        await client.list_tools()
        while str(tmp_path) not in str(plain):
            plain = (await client.call_tool("get-roots-list", {})).model_dump()
        await client.list_tools()
        served = world.served
        await world.run_ahead(("mcp__all__get-roots-list", {}))
        assert (await client.call_tool("get-roots-list", {})).model_dump() == plain
        assert world.served == served + 1
