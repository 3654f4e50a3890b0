"""Codex as npm has it, headless, without and behind a sidecar."""

import json
import re
from pathlib import Path

import pytest

from tests.clients.formats.responses import Responses
from tests.clients.script import Call, Turn
from tests.clients.world import HTTP, STDIO, Run, World, world
from tests.peers.npm import client_command

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(300)]

TURNS = (
    Turn(
        text="Let me look.",
        calls=(
            Call(f"mcp__{STDIO}__lookup", {"topic": "tides"}),
            Call(f"mcp__{HTTP}__lookup", {"topic": "cranes"}),
            Call("exec_command", {"cmd": "cat note.txt"}),
        ),
    ),
    Turn(
        calls=(
            Call(f"mcp__{STDIO}__lookup", {"topic": "winds"}),
            Call(f"mcp__{HTTP}__lookup", {"topic": "berths"}),
        )
    ),
    Turn(text="All is fine at the harbour."),
)
OWN = 'openai_base_url = "{url}/v1"'
CUSTOM = """model_provider = "port"
[model_providers.port]
name = "Port"
base_url = "{url}/v1"
env_key = "PORT_KEY"
http_headers = {{ X-Team = "blue" }}
"""
CONFIG = """# mine
model = "gpt-5-scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
{provider}
[analytics]
enabled = false
[mcp_servers.{stdio}]
command = {command}
args = {args}
required = true
[mcp_servers.{http}]
url = "{address}"
http_headers = {{ X-Team = "blue" }}
required = true
"""
PASSING = re.compile(
    r"Chunk ID: \w+|Wall time: [\d.]+|rollout-[\dT-]+|\b\d{10}(\.\d+)?\b|\b\d{13}\b"
    r'|"duration(_ms)?":\s?(\{[^}]*\}|\d+)|"(time_to_first_token_ms|process_id)":\s?"?\d+'
)


def furnish(place: World, provider: str) -> None:
    """The user's configuration, and what they export."""
    folder = place.home / ".codex"
    folder.mkdir()
    program, *arguments = place.stdio_command
    text = CONFIG.format(
        provider=provider.format(url=place.model.url),
        stdio=STDIO,
        command=json.dumps(program),
        args=json.dumps(arguments),
        http=HTTP,
        address=place.http.url,
    )
    (folder / "config.toml").write_text(text)
    assert isinstance(place.env, dict)
    place.env.update({"CODEX_API_KEY": "k", "PORT_KEY": "k"})


async def run(root: Path, provider: str, *, wrapped: bool) -> tuple[World, Run]:
    command = client_command("@openai/codex/bin/codex.js")
    async with world(root, Responses(), TURNS) as place:
        furnish(place, provider)
        wrap = ["--mode", "speculate", "--policy", str(place.policy())] if wrapped else None
        asked = (*command, "exec", "--json", "--skip-git-repo-check", "How is the harbour?")
        return place, await place.run(asked, wrap=wrap)


def told(place: World, run: Run) -> list[str]:
    """What the model was sent, request by request: results of one turn in the order of their calls."""
    requests = []
    for asked in run.asked:
        items = [item for item in asked.body["input"] if item.get("type", "message") != "function_call_output"]
        outputs = {item["call_id"]: item["output"] for item in asked.body["input"] if "output" in item}
        body = {name: value for name, value in asked.body.items() if name not in ("input", "client_metadata")}
        requests.append(plain(place, json.dumps([body, items, outputs], sort_keys=True)))
    return requests


def transcript(place: World, run: Run) -> list[str]:
    """The lines of the session's file, those of calls that ran side by side in no order."""
    (path,) = (name for name in run.left if "/sessions/" in name and name.endswith(".jsonl"))
    entries = [json.loads(line) for line in run.left[path].splitlines()]
    return sorted(plain(place, json.dumps([entry["type"], entry["payload"]], sort_keys=True)) for entry in entries)


def plain(place: World, text: str) -> str:
    return PASSING.sub("N", place.scrub(text))


def kept(place: World, run: Run) -> set[str]:
    """The files that are there after the run, by name; those of a database that is being closed come and go."""
    return {plain(place, name) for name in run.left if not name.endswith(("-shm", "-wal"))}


async def test_a_run_behind_the_sidecar_is_the_run_without_and_something_was_ready(tmp_path: Path) -> None:
    there, without = await run(tmp_path / "plain", CUSTOM, wrapped=False)
    here, behind = await run(tmp_path / "behind", CUSTOM, wrapped=True)
    assert (without.code, behind.code) == (0, 0), behind.stderr
    assert told(here, behind) == told(there, without)
    assert transcript(here, behind) == transcript(there, without)
    assert behind.tool_runs == without.tool_runs
    assert behind.account["stats"]["hits"] >= 1
    assert behind.account["stats"]["outcomes"].get("reused", 0) >= 1
    assert kept(here, behind) == kept(there, without)
    written = behind.left["home/.codex/config.toml"].decode()
    assert here.model.url in written
    assert all(asked.headers["x-team"] == "blue" for asked in behind.asked)
    assert {headers.get("x-team") for headers in here.http.headers} == {"blue"}


async def test_its_own_provider_asks_over_http_at_once(tmp_path: Path) -> None:
    place, behind = await run(tmp_path, OWN, wrapped=True)
    assert behind.code == 0, behind.stderr
    assert "Reconnecting" not in behind.stdout
    assert len(behind.asked) == len(TURNS)
    assert not place.model.asides
    assert behind.account["stats"]["hits"] >= 1
    assert behind.account["stats"]["sessions"] == 1


async def test_its_exit_code_is_kept(tmp_path: Path) -> None:
    async with world(tmp_path, Responses(), TURNS) as place:
        furnish(place, CUSTOM)
        ended = await place.run((*client_command("@openai/codex/bin/codex.js"), "exec", "--no-such-option"), wrap=[])
    assert ended.code == 2
    assert "--no-such-option" in ended.stderr
