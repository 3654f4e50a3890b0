"""A pattern predicts the whole of a file, the agent asks for its first lines: the official server, a live sidecar."""

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, Learning, McpServer, Speculating
from paste_proxy.events.types import Outcome
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.http.relay import shed_own_headers
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.mcp.route import add_mcp_routes
from paste_proxy.speculation.types import Mode
from tests.peers.npm import filesystem_command
from tests.proxy.mcp.parts import listen, until
from tests.proxy.mcp.test_bridge import HELLO, Client, call

pytestmark = pytest.mark.peer

SESSION = {"x-paste-session": "task-1"}
PATTERN = """
[[pattern]]
id = "named-file"
tool = "read_text_file"
after = "user"
confidence = 0.9
arguments.path = { from = "user", take = "path" }
"""
CONTENT = 'one é 😀 \\\r\ntwo\n\n"three"\n\x07four\n'


PARTS: tuple[dict[str, int], ...] = ({"head": 2}, {"tail": 2}, {"head": 99}, {"head": 0}, {})


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A file for each part that is asked for."""
    folder = tmp_path / "files"
    folder.mkdir()
    (tmp_path / "patterns.toml").write_text(PATTERN)
    paths = [folder / f"{number}.txt" for number in range(len(PARTS))]
    for path in paths:
        path.write_bytes(CONTENT.encode())
    return paths


def hears(sidecar: Sidecar, words: str) -> None:
    """The user is heard to say this to the agent."""
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": words}], "tools": []}
    tee = sidecar.watch.opened(
        wire="openai_chat", target="/v1/chat/completions", headers=SESSION, body=[json.dumps(asked).encode()]
    )
    tee.answer(200, {"content-type": "text/event-stream"})
    tee.closed(clean=True)


async def answers(mode: Mode, files: list[Path]) -> tuple[list[bytes], Tally]:
    """The results that the agent is given of the parts of the files, each after the user has named the file."""
    config = Config(
        mcp={"filesystem": McpServer(command=filesystem_command(files[0].parent))},
        policies=("builtin:mcp-filesystem",),
        patterns=(str(files[0].parents[1] / "patterns.toml"),),
        speculation=Speculating(mode=mode, min_benefit_s=0),
        learning=Learning(general=False),
    )
    sidecar, told = await asyncio.to_thread(Sidecar, config, SystemClock()), []
    ledger = sidecar._scheduler._state.ledger
    held = ledger._ready
    async with AsyncExitStack() as stack:
        app = web.Application(client_max_size=0)
        app.on_response_prepare.append(shed_own_headers)
        app.cleanup_ctx.append(sidecar.living)
        add_mcp_routes(app, sidecar.config, sidecar.hub, clock=SystemClock(), fault=sidecar.tally.fault)
        url = await listen(stack, app) + "/mcp/filesystem"
        http = await stack.enter_async_context(aiohttp.ClientSession(headers=SESSION))
        agent = await Client(http, url).open(HELLO.replace('"roots":{}', ""))
        await agent.messages('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
        for path, part in zip(files, PARTS, strict=True):
            hears(sidecar, f"look into {path} now")
            if mode is Mode.SPECULATE:
                await until(lambda: held)
            if mode is Mode.OBSERVE:
                await until(lambda: held or ledger.running(shadow=True))
            asked = json.dumps({"path": str(path), **part})
            told.append(_result((await agent.messages(call("read_text_file", "7", asked)))[-1]))
    assert not sidecar.tally.faults
    return told, sidecar.tally


def _result(message: bytes) -> bytes:
    """The raw result in a message; what stands around it is written by the server or by the sidecar."""
    _, _, begun = message.partition(b'"result":')
    return begun.removesuffix(b',"jsonrpc":"2.0","id":7}') if begun.endswith(b"7}") else begun.removesuffix(b"}")


async def test_parts_of_predicted_files_are_reused_byte_for_byte(files: list[Path]) -> None:
    plain, _ = await answers(Mode.OFF, files)
    ahead, tally = await answers(Mode.SPECULATE, files)
    assert ahead == plain
    assert len(set(plain)) == 4
    assert tally.outcomes[Outcome.REUSED] == len(PARTS)
    assert tally.calls["reused"] == len(PARTS)


async def test_observing_counts_them_as_well(files: list[Path]) -> None:
    _, tally = await answers(Mode.OBSERVE, files)
    assert tally.calls["run"] == len(PARTS)
    assert sum(tally.shadow_outcomes.values()) == len(PARTS)
