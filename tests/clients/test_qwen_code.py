"""qwen-code as npm has it, headless, without a sidecar and behind one."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from tests.clients.formats.chat import Chat
from tests.clients.pair import outcomes, pair, speculating
from tests.clients.script import Call, Turn
from tests.clients.world import HTTP, STDIO, World, world
from tests.peers.npm import client_command
from tests.proxy.mcp.parts import until

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(900)]

QUIET = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False},
}
TURNS = (
    Turn(
        text="Let me look.",
        calls=(
            Call(f"mcp__{STDIO}__lookup", {"topic": "tides"}),
            Call(f"mcp__{HTTP}__lookup", {"topic": "cranes"}),
            Call("glob", {"pattern": "*.txt"}),
        ),
    ),
    Turn(
        calls=(
            Call("tool_call", {"name": f"mcp__{STDIO}__lookup", "arguments": {"topic": "winds"}}),
            Call(f"mcp__{HTTP}__lookup", {"topic": "berths"}),
        )
    ),
    Turn(text="All is fine at the harbour."),
)


def command(*more: str) -> tuple[str, ...]:
    asked = ("-p", "How is the harbour?", "--yolo", "--output-format", "stream-json")
    return (*client_command("@qwen-code/qwen-code/cli-entry.js"), *asked, *more)


def furnish(place: World) -> None:
    """The user's settings, the project's, and what is exported."""
    over_stdio = {"command": place.stdio_command[0], "args": place.stdio_command[1:], "trust": True}
    over_http = {"httpUrl": place.http.url, "headers": {"X-Team": "$TEAM"}, "trust": True}
    sign_in = {"security": {"auth": {"selectedType": "openai"}}}
    for where, settings in (
        (place.home, {**QUIET, **sign_in, "mcpServers": {HTTP: over_http}}),
        (place.folder, {"mcpServers": {STDIO: over_stdio}}),
    ):
        (where / ".qwen").mkdir()
        (where / ".qwen/settings.json").write_text(json.dumps({**settings, "$version": 4}, indent=2))
    (place.home / ".qwen/.env").write_text(f"OPENAI_BASE_URL={place.model.url}/v1\n")
    place.env.update(OPENAI_API_KEY="k", OPENAI_MODEL="scripted", TEAM="blue")


async def test_a_task_with_parallel_calls_is_the_same_and_calls_are_ready_when_asked_for(tmp_path: Path) -> None:
    both = await pair(tmp_path, Chat, TURNS, furnish, command(), speculating)
    assert both.behind.code == 0, both.behind.stderr
    both.same_to_the_user()
    both.same_to_the_model()
    both.same_to_the_tools()
    both.tagged()
    assert outcomes(both.behind)["reused"] >= 3
    assert both.places[1].http.headers[-1]["x-team"] == "blue"
    assert "paste-proxy: qwen-code took" in both.behind.stderr


async def test_in_observe_mode_nothing_is_run_ahead_and_the_account_says_what_would_have_been_saved(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, Chat(), TURNS) as place:
        furnish(place)
        run = await place.run(command(), wrap=["--policy", str(place.policy()), "--policy", "builtin:coding"])
    assert run.code == 0, run.stderr
    assert run.account["stats"]["launched"] == 0
    assert run.account["would_save_s"] > 0
    assert {name: len(runs) for name, runs in run.tool_runs.items()} == {STDIO: 2, HTTP: 2}
    assert "would have been ready" in run.stderr


async def test_a_run_that_fails_fails_alike(tmp_path: Path) -> None:
    both = await pair(tmp_path, Chat, (TURNS[0], Turn(status=400)), furnish, command(), speculating)
    assert both.behind.code != 0
    both.same_to_the_user()
    both.same_to_the_model()


async def test_ctrl_c_ends_it_alike_and_leaves_nothing_running(tmp_path: Path) -> None:
    slow = (TURNS[0], Turn(calls=TURNS[1].calls, pause_s=60.0))

    async def interrupt(process: asyncio.subprocess.Process, place: World) -> None:
        await until(lambda: len(place.model.asked) == 2, 60)
        os.killpg(process.pid, signal.SIGINT)

    both = await pair(tmp_path, Chat, slow, furnish, command(), speculating, meanwhile=interrupt)
    assert both.behind.code == (both.plain.code if both.plain.code >= 0 else 128 - both.plain.code)
    assert "paste-proxy: qwen-code took" in both.behind.stderr
    assert both.behind.seconds < 60
