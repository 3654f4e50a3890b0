"""The whole way: an LLM's stream seals a call, the filesystem server runs it ahead, the agent is given the result."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, McpServer, Speculating
from paste_proxy.events.types import Outcome
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.http.relay import shed_own_headers
from paste_proxy.proxy.mcp.route import add_mcp_routes
from paste_proxy.speculation.types import Mode
from tests.field_cases.mcp_world import connecting
from tests.peers.npm import filesystem_command
from tests.proxy.mcp.parts import listen, until
from tests.proxy.mcp.test_bridge import HELLO, Client, call

pytestmark = pytest.mark.peer

SESSION = {"x-paste-session": "task-1"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "files" / "a.txt"
    path.parent.mkdir()
    path.write_text("as it was\n")
    return path


@pytest.fixture
def sidecar(file: Path) -> Sidecar:
    return Sidecar(
        Config(
            mcp={"filesystem": McpServer(command=filesystem_command(file.parent))},
            policies=("builtin:mcp-filesystem",),
            speculation=Speculating(mode=Mode.SPECULATE),
        ),
        SystemClock(),
    )


def seals(sidecar: Sidecar, path: Path) -> None:
    """The LLM is heard to ask for the file."""
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "read it"}], "tools": []}
    tee = sidecar.watch.opened(
        wire="openai_chat", target="/v1/chat/completions", headers=SESSION, body=[json.dumps(asked).encode()]
    )
    wanted = {"name": "mcp__filesystem__read_text_file", "arguments": json.dumps({"path": str(path)})}
    delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": wanted}]}
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    tee.answer(200, {"content-type": "text/event-stream"})
    for chunk in ({"choices": [{"index": 0, "delta": delta}]}, ended):
        tee.chunk(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    tee.chunk(b"data: [DONE]\n\n")
    tee.closed(clean=True)


async def test_a_sealed_call_is_run_ahead_and_its_result_reused(file: Path, sidecar: Sidecar) -> None:
    async with AsyncExitStack() as stack:
        app = web.Application(client_max_size=0)
        app.on_response_prepare.append(shed_own_headers)
        app.cleanup_ctx.append(sidecar.living)
        add_mcp_routes(app, sidecar.config, sidecar.hub, clock=SystemClock(), fault=sidecar.tally.fault)
        url = await listen(stack, app) + "/mcp/filesystem"
        http = await stack.enter_async_context(aiohttp.ClientSession(headers=SESSION))
        agent = await Client(http, url).open(HELLO.replace('"roots":{}', ""))
        await agent.messages('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
        read = call("read_text_file", "7", json.dumps({"path": str(file)}))
        seals(sidecar, file)
        await until(lambda: bool(sidecar.tally.launched) and not connecting(sidecar))
        first = (await agent.messages(read))[-1]
        await until(lambda: sidecar.tally.outcomes)
        second = (await agent.messages(read))[-1]
        assert json.loads(first) == json.loads(second)
        assert json.loads(first)["id"] == 7
        assert b"as it was" in first
    assert sidecar.tally.outcomes[Outcome.REUSED] + sidecar.tally.outcomes[Outcome.PROMOTED] == 1
    assert not sidecar.tally.faults
