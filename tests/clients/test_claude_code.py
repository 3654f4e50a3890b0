"""Claude Code as npm has it, headless, without and behind a sidecar."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.clients.formats.messages import Messages
from tests.clients.script import Call, Turn
from tests.clients.world import HTTP, STDIO, Run, World, world
from tests.peers.npm import CLIENTS, installed

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(300)]

TURNS = (
    Turn(
        text="Let me look.",
        calls=(
            Call(f"mcp__{STDIO}__lookup", {"topic": "tides"}),
            Call(f"mcp__{HTTP}__lookup", {"topic": "cranes"}),
            Call("Bash", {"command": "cat note.txt", "description": "Read the note"}),
        ),
    ),
    Turn(
        think_s=1.5,
        calls=(
            Call(f"mcp__{STDIO}__lookup", {"topic": "winds"}),
            Call(f"mcp__{HTTP}__lookup", {"topic": "berths"}),
        ),
    ),
    Turn(text="All is fine at the harbour."),
)
FORESEEN = "".join(
    f"""
[[pattern]]
id = "{topic}"
tool = "{server}/lookup"
after = "ok Bash"
confidence = 0.9
arguments.topic = {{ constant = "{topic}" }}
"""
    for server, topic in ((STDIO, "winds"), (HTTP, "berths"))
)
"""The client asks for a call as soon as it is complete in the stream: only what was foreseen is ready by then."""
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "ANTHROPIC_API_KEY": "sk-k"}
PASSING = re.compile(r"\b[0-9a-f]{64}\b|\bcch=\w+|\.backup\.\w+|ROOT-folder|ID-\d+Z|(?<=tool-results/)\w+")
SPOKEN = ("user", "assistant", "attachment")


def command(*more: str) -> tuple[str, ...]:
    program = installed(CLIENTS) / "@anthropic-ai/claude-code-linux-x64/claude"
    shown = ("--output-format", "stream-json", "--verbose")
    return (str(program), "-p", "How is the harbour?", *shown, *more)


def furnish(place: World) -> None:
    """The user's settings and server, the project's server, and what the user exports."""
    folder = place.home / ".claude"
    folder.mkdir()
    env = {"ANTHROPIC_BASE_URL": f"{place.model.url}/port", "ANTHROPIC_CUSTOM_HEADERS": "X-Team: blue"}
    (folder / "settings.json").write_text(json.dumps({"env": env}))
    program, *arguments = place.stdio_command
    servers = {STDIO: {"command": program, "args": arguments}}
    (place.home / ".claude.json").write_text(json.dumps({"mcpServers": servers}))
    others = {HTTP: {"type": "http", "url": place.http.url, "headers": {"X-Team": "${TEAM:-blue}"}}}
    (place.folder / ".mcp.json").write_text(json.dumps({"mcpServers": others}))
    place.env.update(QUIET)


async def run(root: Path, *, wrapped: bool, more: tuple[str, ...] = ()) -> tuple[World, Run]:
    async with world(root, Messages(), TURNS) as place:
        furnish(place)
        pool = place.root / "foreseen.toml"
        pool.write_text(FORESEEN)
        wrap = ["--mode", "speculate", "--policy", str(place.policy()), "--pattern", str(pool)] if wrapped else None
        allowed = ("--allowedTools", "Bash", f"mcp__{STDIO}", f"mcp__{HTTP}")
        return place, await place.run(command(*more, *allowed), wrap=wrap)


def plain(place: World, text: str) -> str:
    text = text.replace(re.sub(r"[^A-Za-z0-9]", "-", str(place.root)), "ROOT")
    return PASSING.sub("N", place.scrub(text))


def told(place: World, run: Run) -> list[str]:
    """What the model was sent, request by request: results of one turn in the order of their calls."""
    requests = []
    for asked in run.asked:
        body = {name: value for name, value in asked.body.items() if name != "metadata"}
        for message in body["messages"]:
            if isinstance(message["content"], list):
                message["content"].sort(key=lambda part: str(part.get("tool_use_id", "")))
                for part in message["content"]:
                    part.pop("cache_control", None)  # at the last one, whichever that is
        requests.append(plain(place, json.dumps(body)))
    return requests


def spoken(place: World, lines: str) -> list[Any]:
    """What was said by whom, of a transcript; the results of calls that ran side by side in no order."""
    entries = [json.loads(line) for line in lines.splitlines()]
    kept = [
        [entry["type"], entry.get("message"), entry.get("attachment")] for entry in entries if entry["type"] in SPOKEN
    ]
    return sorted(plain(place, json.dumps(entry, sort_keys=True)) for entry in kept)


def transcript(run: Run) -> str:
    (path,) = (name for name in run.left if "/projects/" in name and name.endswith(".jsonl"))
    return run.left[path].decode()


async def test_a_run_behind_the_sidecar_is_the_run_without_and_something_was_ready(tmp_path: Path) -> None:
    there, without = await run(tmp_path / "plain", wrapped=False)
    here, behind = await run(tmp_path / "behind", wrapped=True)
    assert (without.code, behind.code) == (0, 0), behind.stderr
    assert told(here, behind) == told(there, without)
    assert spoken(here, transcript(behind)) == spoken(there, transcript(without))
    assert spoken(here, behind.stdout) == spoken(there, without.stdout)
    assert behind.tool_runs == without.tool_runs
    assert behind.account["stats"]["outcomes"].get("reused", 0) >= 1
    assert {plain(here, name) for name in behind.left} == {plain(there, name) for name in without.left}
    for name in ("home/.claude/settings.json", "folder/.mcp.json"):
        assert plain(here, behind.left[name].decode()) == plain(there, without.left[name].decode())
    assert b"/mcp/" not in behind.left["home/.claude.json"]
    assert all(asked.headers["x-team"] == "blue" for asked in behind.asked)
    assert {headers.get("x-team") for headers in here.http.headers} == {"blue"}


async def test_servers_given_on_the_command_line_are_turned_too(tmp_path: Path) -> None:
    async with world(tmp_path, Messages(), TURNS) as place:
        furnish(place)
        (place.home / ".claude.json").unlink()
        (place.folder / ".mcp.json").unlink()
        program, *arguments = place.stdio_command
        (place.folder / "mine.json").write_text(
            json.dumps({"mcpServers": {STDIO: {"command": program, "args": arguments}}})
        )
        given = json.dumps({"mcpServers": {HTTP: {"type": "http", "url": place.http.url}}})
        allowed = ("--allowedTools", "Bash", f"mcp__{STDIO}", f"mcp__{HTTP}")
        wrap = ["--mode", "speculate", "--policy", str(place.policy())]
        behind = await place.run(
            command("--mcp-config", "mine.json", given, "--strict-mcp-config", *allowed), wrap=wrap
        )
    assert behind.code == 0, behind.stderr
    assert all(len(runs) == 2 for runs in behind.tool_runs.values())
    assert behind.account["stats"]["calls"] == 4


async def test_its_exit_code_is_kept(tmp_path: Path) -> None:
    async with world(tmp_path, Messages(), TURNS) as place:
        furnish(place)
        without = await place.run(command("--no-such-option"))
        behind = await place.run(command("--no-such-option"), wrap=[])
    assert without.code == behind.code != 0
