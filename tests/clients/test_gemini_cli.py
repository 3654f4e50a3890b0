"""gemini-cli as npm has it, headless, without a sidecar and behind one."""

import json
from pathlib import Path

import pytest

from tests.clients.formats.gemini import Gemini
from tests.clients.pair import outcomes, pair, speculating
from tests.clients.script import Call, Turn
from tests.clients.world import HTTP, STDIO, World
from tests.peers.npm import client_command

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(900)]

QUIET = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}
TURNS = (
    Turn(
        text="Let me look.",
        calls=(
            Call(f"mcp_{STDIO}_lookup", {"topic": "tides"}),
            Call(f"mcp_{HTTP}_lookup", {"topic": "cranes"}),
            Call("read_file", {"file_path": "note.txt"}),
        ),
    ),
    Turn(calls=(Call(f"mcp_{STDIO}_lookup", {"topic": "winds"}), Call(f"mcp_{HTTP}_lookup", {"topic": "berths"}))),
    Turn(text="All is fine at the harbour."),
)


def command(*more: str) -> tuple[str, ...]:
    script = "@google/gemini-cli/bundle/gemini.js"
    asked = ("-m", "gemini-2.5-flash", "-p", "How is the harbour?", "--yolo", "--output-format", "stream-json")
    return (*client_command(script), *asked, *more)


def furnish(place: World) -> None:
    """The user's settings, and what they export."""
    servers = {
        STDIO: {"command": place.stdio_command[0], "args": place.stdio_command[1:], "trust": True},
        HTTP: {"httpUrl": place.http.url, "headers": {"X-Team": "$TEAM"}, "trust": True},
    }
    settings = {**QUIET, "mcpServers": servers, "security": {"auth": {"selectedType": "gemini-api-key"}}}
    folder = place.home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text("// mine\n" + json.dumps(settings, indent=2))
    place.env.update(
        GEMINI_API_KEY="k",
        GOOGLE_GEMINI_BASE_URL=place.model.url,
        GEMINI_CLI_TRUST_WORKSPACE="true",
        GEMINI_CLI_CUSTOM_HEADERS="X-Own: 1",
        TEAM="blue",
    )


async def test_a_task_with_parallel_calls_is_the_same_and_calls_are_ready_when_asked_for(tmp_path: Path) -> None:
    both = await pair(tmp_path, Gemini, TURNS, furnish, command(), speculating)
    assert both.behind.code == 0, both.behind.stderr
    both.same_to_the_user()
    both.same_to_the_model()
    both.same_to_the_tools()
    both.tagged()
    assert outcomes(both.behind)["reused"] >= 3
    assert all(request.headers["x-own"] == "1" for request in both.behind.asked)
    assert both.places[1].http.headers[-1]["x-team"] == "blue"
    assert "paste-proxy: gemini-cli took" in both.behind.stderr
