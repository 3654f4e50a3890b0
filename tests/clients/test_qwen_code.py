"""qwen-code as npm has it, headless, without a sidecar and behind one."""

import json
from pathlib import Path

import pytest

from tests.clients.formats.chat import Chat
from tests.clients.pair import outcomes, pair, speculating
from tests.clients.script import Call, Turn
from tests.clients.world import HTTP, STDIO, World
from tests.peers.npm import client_command

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(900)]

QUIET = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "disableUpdateNag": True},
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
    """The user's settings, and what they export."""
    servers = {
        STDIO: {"command": place.stdio_command[0], "args": place.stdio_command[1:], "trust": True},
        HTTP: {"httpUrl": place.http.url, "headers": {"X-Team": "$TEAM"}, "trust": True},
    }
    settings = {**QUIET, "mcpServers": servers, "security": {"auth": {"selectedType": "openai"}}, "$version": 3}
    folder = place.home / ".qwen"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings, indent=2))
    (folder / ".env").write_text(f"OPENAI_BASE_URL={place.model.url}/v1\n")
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
