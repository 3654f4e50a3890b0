"""gemini-cli as npm has it, headless, without and behind a sidecar."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.formats.gemini import Gemini
from tests.clients.script import Call, Turn
from tests.clients.world import HTTP, STDIO, World, world
from tests.peers.npm import client_command

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(600)]

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
    return (*client_command(script), "-m", "gemini-2.5-flash", "-p", "How is the harbour?", "--yolo", *more)


def furnish(place: World) -> None:
    """The user's settings, and what they export."""
    settings = {
        **QUIET,
        "mcpServers": {
            STDIO: {"command": place.stdio_command[0], "args": place.stdio_command[1:], "trust": True},
            HTTP: {"httpUrl": place.http.url, "headers": {"X-Team": "$TEAM"}, "trust": True},
        },
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    folder = place.home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text("// mine\n" + json.dumps(settings, indent=2))
    env = {
        "GEMINI_API_KEY": "k",
        "GOOGLE_GEMINI_BASE_URL": place.model.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "TEAM": "blue",
    }
    place.env.update(env)


async def test_x(tmp_path: Path) -> None:
    async with world(tmp_path / "plain", Gemini(), TURNS) as place:
        furnish(place)
        plain = await place.run(command("--output-format", "stream-json"))
    print(plain.code, plain.seconds, plain.tool_runs)
    print(plain.stdout)
    print(plain.stderr[-3000:])
    async with world(tmp_path / "behind", Gemini(), TURNS) as place:
        furnish(place)
        behind = await place.run(
            command("--output-format", "stream-json"), wrap=["--mode", "speculate", "--policy", str(place.policy())]
        )
    print(behind.code, behind.seconds, behind.tool_runs)
    print(behind.stdout)
    print(behind.stderr[-3000:])
    print(json.dumps(behind.account, indent=1))
    print(set(behind.left) ^ set(plain.left))
    (tmp_path / "a").write_text("\n".join(json.dumps(a.body, indent=1) for a in plain.asked))
    (tmp_path / "b").write_text("\n".join(json.dumps(a.body, indent=1) for a in behind.asked))
    print(tmp_path)
    assert 0
