"""A running sidecar learns from what its sessions ask for, tells how much, and keeps it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import orjson
import pytest

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, Learning, McpServer
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.ports import AgentCall, RunIt

TEST = Invocation("shell", {"command": "npm test"})
SHARED = 'reads = ["workspace"]'
OWN = 'reads = ["crm:{session}"]'


class NeverRun:
    """In mode observe."""

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise AssertionError(invocation)

    async def close(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def sidecar(learning: Learning, reads: str = SHARED) -> AsyncIterator[Sidecar]:
    with NamedTemporaryFile("w", suffix=".toml") as policy:
        policy.write(f'[[rule]]\ntool = "shell"\neffect = "read"\n{reads}\n')
        policy.flush()
        config = Config(learning=learning, policies=(policy.name,))
        made = await asyncio.to_thread(Sidecar, config, SystemClock())
    living = made.living()
    await anext(living)
    made.hub.offer("", "", NeverRun(), ["shell", "edit"])
    yield made
    with pytest.raises(StopAsyncIteration):
        await anext(living)


async def call(made: Sidecar, session: str, invocation: Invocation, output: str, scope: str = "") -> None:
    """A turn of the session asks for a call, which is made and answered."""
    history = [{"role": "user", "content": f"{session} {invocation.key}"}]
    body = orjson.dumps({"model": "m", "stream": True, "messages": history})
    target, headers = "/v1/chat/completions", {"x-paste-session": session}
    tee = made.watch.opened(wire="openai_chat", target=target, headers=headers, body=[body])
    tee.answer(200, {"content-type": "text/event-stream"})
    arguments = orjson.dumps(invocation.arguments).decode()
    written = {"index": 0, "id": "c", "function": {"name": invocation.tool, "arguments": arguments}}
    for delta, end in (({"tool_calls": [written]}, None), ({}, "tool_calls")):
        chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        tee.chunk(b"data: " + orjson.dumps(chunk) + b"\n\n")
    tee.chunk(b"data: [DONE]\n\n")
    tee.closed(clean=True)
    asked = AgentCall(invocation=invocation, session=session, call_id="c", scope=scope)
    decision = await asyncio.wait_for(made.hub.ask(asked), 10)
    assert isinstance(decision, RunIt)
    made.hub.ended(decision.ticket, ToolResult(body=output.encode()))


async def working(made: Sidecar, session: str) -> None:
    for part in "abc":
        await call(made, session, Invocation("edit", {"path": f"{session}/{part}"}), "edited")
        await thought_over(made)  # as there is time in a session
        await call(made, session, TEST, "passed")
        await thought_over(made)


async def thought_over(made: Sidecar) -> None:
    """All that has happened so far, and what follows from it."""
    assert made.thinker is not None
    for _ in range(3):
        for _ in range(20):
            await asyncio.sleep(0)  # the hub takes up what has been posted
        await made.thinker.had(lambda: None)


async def test_moments_and_habits_are_counted_and_known_to_the_next_sidecar(tmp_path: Path) -> None:
    learning = Learning(directory=tmp_path / "memory", workspace=tmp_path)
    async with sidecar(learning) as made:
        assert made.tally.learned().moments == 0
        await asyncio.gather(*(working(made, f"s{number}") for number in range(3)))
        await thought_over(made)
        learned = made.tally.learned()
        assert learned.moments > 5
        assert learned.habits == 1, "edits are nothing to run ahead"
    async with sidecar(learning) as again:
        known = again.tally.learned()
        assert known.habits == learned.habits
        assert known.moments > learned.moments, "what was open at the end was learned, too"


async def test_what_is_a_sessions_own_business_leaves_no_habit(tmp_path: Path) -> None:
    learning = Learning(directory=tmp_path / "memory", workspace=tmp_path)
    async with sidecar(learning, OWN) as made:
        await working(made, "s")
        await thought_over(made)
        assert made.tally.learned().habits == 0
    async with sidecar(learning) as made:
        await call(made, "s", Invocation("shell", {"command": "login", "password": "hunter2-secret"}), "in")
        await thought_over(made)
        assert made.tally.learned().habits == 0


LOOK = Invocation("files/look", {"path": "open-tickets.md"})
COMMAND, URL = McpServer(command=("cat",)), McpServer(url="http://127.0.0.1:9/mcp")


@pytest.mark.parametrize(
    ("server", "effect", "habits"),
    [
        (COMMAND, 'effect = "read"', 1),
        (COMMAND.model_copy(update={"stateless": False}), 'effect = "read"', 0),
        (COMMAND.model_copy(update={"habits": False}), 'effect = "read"', 0),
        (COMMAND, 'effect = "read"\nreads = ["files:{session}"]', 0),
        (COMMAND, 'effect = "write"', 0),
        (URL, 'effect = "read"', 0),
        (URL.model_copy(update={"habits": True}), 'effect = "read"', 1),
    ],
)
async def test_calls_of_an_mcp_server_become_habits_where_it_is_alike_to_every_session(
    tmp_path: Path, server: McpServer, effect: str, habits: int
) -> None:
    (tmp_path / "policy.toml").write_text(f'[[rule]]\ntool = "files/look"\n{effect}\n')
    config = Config(mcp={"files": server}, policies=(str(tmp_path / "policy.toml"),))
    made = await asyncio.to_thread(Sidecar, config, SystemClock())
    living = made.living()
    await anext(living)
    for session in ("a", "b", "c"):
        scope = f"mcp:files:{session}"
        made.hub.offer(scope, "files", NeverRun(), ["files/look"], session=session)
        await call(made, session, LOOK, "none", scope)
    await thought_over(made)
    assert made.tally.learned().habits == habits
    with pytest.raises(StopAsyncIteration):
        await anext(living)


async def test_what_is_switched_off_learns_nothing(tmp_path: Path) -> None:
    async with sidecar(Learning(enabled=False, directory=tmp_path / "memory", workspace=tmp_path)) as made:
        await working(made, "s")
        await thought_over(made)
        assert made.tally.learned().moments == 0
    assert not await asyncio.to_thread((tmp_path / "memory").exists)
