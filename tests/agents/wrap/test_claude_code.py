"""Claude Code's configuration: what of it can go through a sidecar, and what it is then started with."""

import json
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.agents.wrap import claude_code, claude_config
from paste_proxy.agents.wrap.claude_code import ClaudeCode
from paste_proxy.agents.wrap.client import Behind, User
from paste_proxy.config import LlmRoute, McpServer
from paste_proxy.errors import InputFault

BEHIND = Behind(url="http://127.0.0.1:9", session="run")
ADDRESS = "http://127.0.0.1:9/anthropic"


@pytest.fixture(autouse=True)
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The administrator's folder."""
    folder = tmp_path / "managed"
    folder.mkdir()
    for module in (claude_code, claude_config):
        monkeypatch.setattr(module, "MANAGED", folder)
    return folder


@pytest.fixture
def user(tmp_path: Path) -> User:
    home, folder = tmp_path / "home", tmp_path / "folder"
    (home / ".claude").mkdir(parents=True)
    (folder / ".claude").mkdir(parents=True)
    return User(command=("claude", "-p", "hello"), home=home, folder=folder, env={})


def with_(user: User, *command: str, env: dict[str, str] | None = None) -> User:
    return User(command=command or user.command, home=user.home, folder=user.folder, env=env or {})


def write(path: Path, tree: object) -> None:
    path.write_text(json.dumps(tree))


def prepared(user: User, tmp_path: Path) -> tuple[tuple[str, ...], dict[str, Any], dict[str, Any]]:
    """The command, its settings and its servers."""
    place = tmp_path / "place"
    place.mkdir()
    made = ClaudeCode().prepare(user, ClaudeCode().find(user), BEHIND, place)
    files = [place / "settings.json", place / "mcp.json"]
    settings, servers = (json.loads(file.read_text()) if file.exists() else {} for file in files)
    return made.command, settings, servers


@pytest.mark.parametrize("command", [("claude",), ("npx", "@anthropic-ai/claude-code", "-p"), ("/x/bin/claude", "-p")])
def test_it_is_known_by_name_path_and_package(command: tuple[str, ...]) -> None:
    assert ClaudeCode().recognises(command)
    assert not ClaudeCode().recognises(("claudette",))


def test_requests_to_anthropic_itself_are_turned_as_such(user: User, tmp_path: Path) -> None:
    assert ClaudeCode().find(user).routes == (LlmRoute(path="/anthropic", upstream="https://api.anthropic.com"),)
    command, settings, _ = prepared(user, tmp_path)
    assert command == ("claude", f"--settings={tmp_path}/place/settings.json", "-p", "hello")
    assert settings == {
        "env": {
            "ANTHROPIC_BASE_URL": ADDRESS,
            "ANTHROPIC_CUSTOM_HEADERS": "x-paste-session: run",
            "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL": "1",
        }
    }


def test_settings_outrank_the_environment_and_later_layers_earlier_ones(user: User, tmp_path: Path) -> None:
    asked = with_(user, env={"ANTHROPIC_BASE_URL": "http://env"})
    layers = [user.home / ".claude/settings.json", user.folder / ".claude/settings.json"]
    layers.append(user.folder / ".claude/settings.local.json")
    assert ClaudeCode().find(asked).routes[0].upstream == "http://env"
    for number, path in enumerate(layers):
        write(path, {"env": {"ANTHROPIC_BASE_URL": f"http://{number}", "ANTHROPIC_CUSTOM_HEADERS": "A: b"}})
        assert ClaudeCode().find(asked).routes[0].upstream == f"http://{number}"
    given = json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://given"}, "model": "m"})
    last = with_(user, "claude", "--settings", given, "-p")
    assert ClaudeCode().find(last).routes[0].upstream == "http://given"
    command, settings, _ = prepared(last, tmp_path)
    assert command == ("claude", f"--settings={tmp_path}/place/settings.json", "-p")
    assert settings["model"] == "m"
    assert settings["env"] == {
        "ANTHROPIC_BASE_URL": ADDRESS,
        "ANTHROPIC_CUSTOM_HEADERS": "A: b\nx-paste-session: run",
    }


@pytest.mark.parametrize("cloud", ["BEDROCK", "VERTEX", "FOUNDRY"])
def test_a_cloud_is_asked_directly_and_the_user_is_told(user: User, tmp_path: Path, cloud: str) -> None:
    asked = with_(user, env={f"CLAUDE_CODE_USE_{cloud}": "1"})
    found = ClaudeCode().find(asked)
    assert found.routes == ()
    assert cloud.title() in found.notes[0]
    assert prepared(asked, tmp_path)[0] == asked.command


def test_servers_of_every_scope_are_turned_and_the_nearest_of_a_name_wins(user: User, tmp_path: Path) -> None:
    servers = {name: {"type": "http", "url": f"http://user/{name}"} for name in ("a", "b", "c")}
    local = {"a": {"command": "serve", "args": ["${X:-local}"], "env": {"K": "${KEY}"}}}
    write(user.home / ".claude.json", {"mcpServers": servers, "projects": {str(user.folder): {"mcpServers": local}}})
    project = {"a": {"command": "project"}, "b": {"type": "http", "url": "http://project/b", "headers": {"T": "${T}"}}}
    write(user.folder.parent / ".mcp.json", {"mcpServers": project})
    asked = with_(user, env={"KEY": "secret"})
    assert ClaudeCode().find(asked).servers == {
        "a": McpServer(command=("serve", "local"), env={"K": "secret"}, cwd=user.folder),
        "b": McpServer(url="http://project/b"),
        "c": McpServer(url="http://user/c"),
    }
    command, _, made = prepared(asked, tmp_path)
    assert command[2:] == (f"--mcp-config={tmp_path}/place/mcp.json", "-p", "hello")
    tag = {"x-paste-session": "run"}
    assert made["mcpServers"] == {
        "a": {"type": "http", "url": "http://127.0.0.1:9/mcp/a", "headers": tag},
        "b": {"type": "http", "url": "http://127.0.0.1:9/mcp/b", "headers": {"T": "${T}", **tag}},
        "c": {"type": "http", "url": "http://127.0.0.1:9/mcp/c", "headers": tag},
    }


def test_servers_given_on_the_command_line_are_turned_in_their_place(user: User, tmp_path: Path) -> None:
    write(user.home / ".claude.json", {"mcpServers": {"u": {"type": "http", "url": "http://u"}}})
    write(user.folder / "mine.json", {"mcpServers": {"m": {"command": "m"}, "s": {"type": "sse", "url": "http://s"}}})
    given = json.dumps({"mcpServers": {"g": {"type": "http", "url": "http://g"}}})
    asked = with_(user, "claude", "--mcp-config", "mine.json", given, "--strict-mcp-config", "-p", "hi")
    found = ClaudeCode().find(asked)
    assert set(found.servers) == {"m", "g"}
    assert "'s'" in found.notes[0]
    command, _, made = prepared(asked, tmp_path)
    assert command[3:] == ("--strict-mcp-config", "-p", "hi")
    assert set(made["mcpServers"]) == {"m", "s", "g"}
    assert made["mcpServers"]["s"] == {"type": "sse", "url": "http://s"}


def test_a_projects_server_that_nobody_approved_is_not_started_by_us(user: User) -> None:
    write(user.folder / ".mcp.json", {"mcpServers": {name: {"command": name} for name in ("a", "b")}})
    talk = with_(user, "claude")
    assert not ClaudeCode().find(talk).servers
    write(user.folder / ".claude/settings.local.json", {"enabledMcpjsonServers": ["a"]})
    assert set(ClaudeCode().find(talk).servers) == {"a"}
    write(user.home / ".claude/settings.json", {"enableAllProjectMcpServers": True, "disabledMcpjsonServers": ["b"]})
    assert set(ClaudeCode().find(talk).servers) == {"a"}
    assert set(ClaudeCode().find(user).servers) == {"a"}


def test_servers_turned_off_or_signed_in_to_are_left_alone(user: User) -> None:
    servers = {name: {"type": "http", "url": f"http://{name}"} for name in ("off", "mine", "on")}
    projects = {str(user.folder): {"disabledMcpServers": ["off"]}}
    write(user.home / ".claude.json", {"mcpServers": servers, "projects": projects})
    write(user.home / ".claude/.credentials.json", {"mcpOAuth": {"mine|1": {"serverName": "mine"}}})
    found = ClaudeCode().find(user)
    assert set(found.servers) == {"on"}
    assert ["'mine'" in note for note in found.notes] == [True]


def test_what_an_administrator_says_stays_said(user: User, managed: Path) -> None:
    write(user.home / ".claude.json", {"mcpServers": {"a": {"command": "a"}}})
    write(managed / "managed-settings.json", {"env": {"ANTHROPIC_BASE_URL": "http://firm"}, "deniedMcpServers": []})
    found = ClaudeCode().find(user)
    assert (found.routes, found.servers) == ((), {})
    assert len(found.notes) == 2


def test_a_file_that_cannot_be_read_is_named(user: User) -> None:
    (user.home / ".claude/settings.json").write_text("{")
    with pytest.raises(InputFault, match=r"settings\.json"):
        ClaudeCode().find(user)
    (user.home / ".claude/settings.json").write_text("{}")
    with pytest.raises(InputFault, match="--settings"):
        ClaudeCode().find(with_(user, "claude", "--settings", "{,"))
