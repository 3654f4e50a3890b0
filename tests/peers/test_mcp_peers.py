"""The official client and servers hear the same through the sidecar as without it."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest
from mcp import Client

from paste_proxy.config import McpServer
from paste_proxy.events.invocation import Invocation
from paste_proxy.proxy.ports import AgentCall, Decision
from paste_proxy.testing import FakeGate
from tests.peers.mcp_talk import Call, Mode, behind_us, free_port, program, running, talk
from tests.peers.npm import everything_command, filesystem_command
from tests.proxy.mcp.parts import sidecar

pytestmark = pytest.mark.peer

MODERN = (sys.executable, str(Path(__file__).with_name("modern_server.py")))
MODERN_CALLS: list[Call] = [
    ("lookup", {"key": "a"}),
    ("write_note", {"text": "n"}),
    ("write_note", {"text": ""}),
    ("write_note", {}),
    ("nope", {}),
]
READ_ONLY = ("read_text_file", "list_directory", "lookup", "search_files")
EVERYTHING_CALLS: list[Call] = [
    ("echo", {"message": "hé\u2028"}),
    ("get-sum", {"a": 1, "b": 2.5}),
    ("get-sum", {"a": "x"}),
    ("trigger-long-running-operation", {"duration": 0.2, "steps": 4}),
    ("get-tiny-image", {}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-resource-links", {"count": 3}),
    ("nope", {}),
]


def files(folder: Path) -> tuple[Path, list[Call]]:
    """A folder as it is at the start of every conversation, and what is done in it."""
    root = folder / "files"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    (root / "a.txt").write_text("eins\nzwei\u2028drei\n", "utf-8")
    (root / "big.txt").write_text("0123456789abcde\n" * 65_536, "utf-8")
    return root, [
        ("read_text_file", {"path": str(root / "a.txt")}),
        ("read_text_file", {"path": str(root / "a.txt"), "head": 1}),
        ("read_text_file", {"path": str(root / "big.txt")}),
        ("list_directory", {"path": str(root)}),
        ("write_file", {"path": str(root / "b.txt"), "content": "neu"}),
        ("read_multiple_files", {"paths": [str(root / "b.txt"), str(root / "none")]}),
        ("search_files", {"path": str(root), "pattern": "*.txt"}),
        ("read_text_file", {"path": "/etc/hostname"}),
        ("nope", {}),
    ]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_filesystem_server(tmp_path: Path, mode: Mode) -> None:
    gate = FakeGate()
    root, calls = files(tmp_path)
    command = filesystem_command(root)
    plain = await talk(program(command), calls, mode)
    assert plain["version"] == "2025-11-25"
    files(tmp_path)
    async with sidecar(gate, {"fs": McpServer(command=command)}) as base:
        assert await talk(f"{base}/mcp/fs", calls, mode) == plain
    files(tmp_path)
    assert await talk(behind_us(command, "--mode", "speculate"), calls, mode) == plain
    assert len(gate.asked) == len(calls)
    assert len(gate.over) == len(calls)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_everything_server_over_http(mode: Mode) -> None:
    port = free_port()
    async with running(everything_command("streamableHttp"), port, PORT=str(port)) as url:
        plain = await talk(url, EVERYTHING_CALLS, mode)
        async with sidecar(FakeGate(), {"all": McpServer(url=url)}) as base:
            assert await talk(f"{base}/mcp/all", EVERYTHING_CALLS, mode) == plain


async def test_the_everything_server_over_stdio() -> None:
    command = everything_command()
    plain = await talk(program(command), EVERYTHING_CALLS)
    async with sidecar(FakeGate(), {"all": McpServer(command=command)}) as base:
        assert await talk(f"{base}/mcp/all", EVERYTHING_CALLS) == plain
    assert await talk(behind_us(command), EVERYTHING_CALLS) == plain


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_python_server_in_both_eras(mode: Mode, version: str) -> None:
    port = free_port()
    async with running((*MODERN, "http", str(port)), port) as url:
        plain = await talk(url, MODERN_CALLS, mode)
        assert plain["version"] == version
        async with sidecar(FakeGate(), {"m": McpServer(url=url)}) as base:
            assert await talk(f"{base}/mcp/m", MODERN_CALLS, mode) == plain


async def test_the_python_server_over_stdio() -> None:
    command = (*MODERN, "stdio")
    plain = await talk(program(command), MODERN_CALLS)
    assert plain["version"] == "2026-07-28"
    async with sidecar(FakeGate(), {"m": McpServer(command=command)}) as base:
        assert await talk(f"{base}/mcp/m", MODERN_CALLS) == plain
    assert await talk(behind_us(command), MODERN_CALLS) == plain


class Foresight(FakeGate):
    """Runs a call ahead when it is first asked about, through what was offered, and serves it then."""

    async def ask(self, call: AgentCall) -> Decision:
        """See `FakeGate.ask`."""
        offered = self.offers.get((call.scope, call.invocation.tool.partition("/")[0]))
        if offered is not None and call.invocation.tool in offered[1] and call.invocation.tool.endswith(READ_ONLY):
            self.ready[call.invocation.key] = await offered[0].run(call.invocation, speculative=True)
        return await super().ask(call)


async def test_results_run_ahead_by_the_filesystem_server_are_what_it_would_have_said(tmp_path: Path) -> None:
    gate = Foresight()
    root, calls = files(tmp_path)
    plain = await talk(program(filesystem_command(root)), calls)
    files(tmp_path)
    async with sidecar(gate, {"fs": McpServer(command=filesystem_command(root))}) as base:
        assert await talk(f"{base}/mcp/fs", calls) == plain
    assert len(gate.asked) - len(gate.over) == 6


async def test_a_server_run_ahead_is_given_the_roots_that_the_client_gave(tmp_path: Path) -> None:
    gate = Foresight()
    root, calls = files(tmp_path)
    command = filesystem_command(Path("/usr"))
    plain = await talk(program(command), calls, roots=root)
    assert "eins" in str(plain["calls"][0])
    files(tmp_path)
    async with sidecar(gate, {"fs": McpServer(command=command)}) as base:
        assert await talk(f"{base}/mcp/fs", calls, roots=root) == plain
    assert len(gate.asked) - len(gate.over) == 6


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_result_run_ahead_over_http_is_what_the_server_would_have_said(mode: Mode) -> None:
    gate = Foresight()
    port = free_port()
    async with running((*MODERN, "http", str(port)), port) as url:
        plain = await talk(url, [("lookup", {"key": "a"})], mode)
        async with sidecar(gate, {"m": McpServer(url=url)}) as base:
            ours = await talk(f"{base}/mcp/m", [("lookup", {"key": "a"}), ("lookups", {})], mode)
    assert ours["calls"][0][0] == plain["calls"][0][0]
    assert gate.asked[0].invocation == Invocation("m/lookup", {"key": "a"})
    assert 1 not in gate.over
    assert json.loads(ours["calls"][1][0]["content"][0]["text"]) == 2


async def test_a_subscription_of_the_stateless_era_is_acknowledged_over_stdio() -> None:
    async with (
        sidecar(FakeGate(), {"m": McpServer(command=(*MODERN, "stdio"))}) as base,
        Client(f"{base}/mcp/m") as client,
        asyncio.timeout(20),
        client.listen(tools_list_changed=True) as subscription,
    ):
        assert subscription.honored.tools_list_changed
        assert (await client.call_tool("lookup", {"key": "b"})).structured_content == {"result": "value of b"}
