"""Where Claude Code gets the hook: only where nothing is known that could have a say in a command."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from paste_proxy.agents.wrap import claude_config
from paste_proxy.agents.wrap.claude_code import ClaudeCode
from paste_proxy.agents.wrap.claude_config import ClaudeConfig
from paste_proxy.agents.wrap.client import Behind, User
from paste_proxy.agents.wrap.hooks.claude import hooks
from paste_proxy.agents.wrap.hooks.claude_obstacles import modes, obstacle

LEAVE = ("-p", "hi", "--allowedTools", "Bash")


@pytest.fixture(autouse=True)
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The administrator's folder."""
    monkeypatch.setattr(claude_config, "MANAGED", tmp_path / "managed")
    return tmp_path / "managed"


def config(tmp_path: Path, *arguments: str, env: Mapping[str, str] | None = None) -> ClaudeConfig:
    folder = tmp_path / "home/work"
    folder.mkdir(parents=True, exist_ok=True)
    user = User(command=("claude", *arguments), home=tmp_path / "home", folder=folder, env=env or {})
    return ClaudeConfig(user, arguments)


def write(path: Path, tree: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(tree))


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [
        ({"permissions": {"allow": ["Bash"], "deny": []}, "hooks": {}}, ("-p", "hi")),
        ({"permissions": {"allow": ["Read", "Bash(*)"]}, "model": "opus"}, ("--print", "hi")),
        ({"env": {"ANTHROPIC_BASE_URL": "http://a"}}, ("--allowedTools", "Read", "Bash", "-p")),
        ({}, ("--allowed-tools=Read,Bash", "-p", "--output-format", "json", "--model=opus", "--", "--agent")),
        ({}, ("-p", "hi", "--dangerously-skip-permissions")),
    ],
)
def test_with_leave_for_all_of_bash_nothing_stands_in_the_way(
    tmp_path: Path, settings: object, arguments: tuple[str, ...]
) -> None:
    write(tmp_path / "home/.claude/settings.json", settings)
    known = config(tmp_path, *arguments, env={"SHELL": "/bin/bash", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "9"})
    assert obstacle(known) == ""
    assert hooks(known, Behind(url="http://127.0.0.1:9", session="run"), tmp_path)


def test_leave_that_hangs_on_a_mode_holds_in_that_mode_only(tmp_path: Path) -> None:
    assert modes(config(tmp_path, "-p", "--dangerously-skip-permissions")) == ("bypassPermissions",)
    assert "plan" not in modes(config(tmp_path, *LEAVE))


@pytest.mark.parametrize(
    "settings",
    [
        {"hooks": {"SessionStart": [{"hooks": []}]}},
        {"hooks": {"PreToolUse": []}},
        {"permissions": {"deny": ["Read(./precious.txt)"]}},
        {"permissions": {"ask": ["Bash"]}},
        {"permissions": {"additionalDirectories": ["/"]}},
        {"permissions": {"defaultMode": "plan"}},
        {"sandbox": {"enabled": True}},
        {"env": {"LC_ALL": "C"}},
        {"env": {"CLAUDE_CODE_SHELL_PREFIX": "/x"}},
        {"enabledPlugins": {"a@b": True}},
        {"somethingNew": 1},
    ],
)
@pytest.mark.parametrize(
    "place", ["home/.claude/settings.json", "home/work/.claude/settings.json", "home/work/.claude/settings.local.json"]
)
def test_any_setting_that_is_not_known_stands_in_the_way(tmp_path: Path, place: str, settings: object) -> None:
    write(tmp_path / place, settings)
    assert obstacle(config(tmp_path, *LEAVE))


@pytest.mark.parametrize(
    "place",
    [
        "managed/managed-settings.json",
        "managed/managed-settings.d/a.json",
        "home/.claude/remote-settings.json",
        "home/.claude/agents/a.md",
        "home/.claude/skills/a/SKILL.md",
        "home/work/.claude/agents/a.md",
        "home/work/.git",
    ],
)
def test_any_file_that_may_say_more_stands_in_the_way(tmp_path: Path, place: str) -> None:
    write(tmp_path / place, {})
    assert obstacle(config(tmp_path, *LEAVE))


def test_installed_plugins_stand_in_the_way(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/plugins/installed_plugins.json", {"plugins": {}})
    assert obstacle(config(tmp_path, *LEAVE)) == ""
    write(tmp_path / "home/.claude/plugins/installed_plugins.json", {"plugins": {"a@b": []}})
    assert obstacle(config(tmp_path, *LEAVE))


@pytest.mark.parametrize(
    "arguments",
    [
        ("-p", "hi"),
        ("--allowedTools", "Bash"),
        ("-p", "--allowedTools", "Bash(git log:*)"),
        (*LEAVE, "--disallowedTools", "Bash(find:*) Edit"),
        (*LEAVE, "--plugin-dir", "x"),
        (*LEAVE, "--permission-mode", "plan"),
        (*LEAVE, "--settings", '{"permissions":{"deny":["Edit"]}}'),
        (*LEAVE, "--settings={}", "--settings={}"),
        (*LEAVE, "--input-format", "stream-json"),
        (*LEAVE, "--model", "--agent"),
    ],
)
def test_any_option_that_is_not_known_stands_in_the_way(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert obstacle(config(tmp_path, *arguments))


@pytest.mark.parametrize(
    "name", ["CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_ENV_FILE", "CLAUDE_NEW", "BASH_ENV", "BASH_FUNC_ls%%", "ENV"]
)
def test_any_variable_that_may_change_commands_stands_in_the_way(tmp_path: Path, name: str) -> None:
    assert name in obstacle(config(tmp_path, *LEAVE, env={name: "x"}))


def test_what_stands_in_the_way_is_found_with_the_rest(tmp_path: Path) -> None:
    user = config(tmp_path, *LEAVE).user
    assert ClaudeCode().find(user).obstacle == ""
    write(tmp_path / "home/.claude/settings.json", {"permissions": {"deny": ["Edit"]}})
    assert ClaudeCode().find(user).obstacle == "there are rules under permissions.deny"
