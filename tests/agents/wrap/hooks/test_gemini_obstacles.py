"""Where gemini-cli gets the hooks: only where nothing is known that could have a say in a command."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from paste_proxy.agents.wrap.client import User
from paste_proxy.agents.wrap.gemini_cli import GeminiCli
from paste_proxy.agents.wrap.hooks import gemini_obstacles

LEAVE = ("-p", "hi", "--yolo")
KEY = {"GEMINI_API_KEY": "k"}


@pytest.fixture(autouse=True)
def administrators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemini_obstacles, "ADMINISTRATORS", tmp_path / "managed")


def obstacle(tmp_path: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    user = User(command=("gemini", *arguments), home=tmp_path / "home", folder=folder, env=KEY if env is None else env)
    return GeminiCli().find(user).obstacle


def write(path: Path, tree: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(tree))


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [
        ({}, LEAVE),
        ({"security": {"auth": {"selectedType": "gemini-api-key"}}, "tools": {}}, ("--prompt=hi", "-y", "-m", "x")),
        ({"mcpServers": {"a": {"command": "a"}}}, ("-p", "hi", "--approval-mode", "yolo")),
        ({"general": {"vimMode": True}}, ("-p", "hi", "--approval-mode=yolo")),
    ],
)
def test_headless_and_unasked_nothing_stands_in_the_way(
    tmp_path: Path, settings: object, arguments: tuple[str, ...]
) -> None:
    write(tmp_path / "home/.gemini/settings.json", settings)
    assert obstacle(tmp_path, *arguments) == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("-p", "hi"),
        ("--yolo",),
        (*LEAVE, "--sandbox"),
        (*LEAVE, "--policy", "p.toml"),
        (*LEAVE, "--admin-policy=p.toml"),
        ("-p", "hi", "--approval-mode", "plan"),
        (*LEAVE, "--approval-mode=default"),
        (*LEAVE, "--allowed-tools", "x"),
        (*LEAVE, "--something-new"),
    ],
)
def test_any_option_that_is_not_known_stands_in_the_way(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert obstacle(tmp_path, *arguments)


@pytest.mark.parametrize(
    "settings",
    [
        {"hooks": {"SessionStart": []}},
        {"tools": {"exclude": ["run_shell_command(rm)"]}},
        {"policyPaths": ["p.toml"]},
        {"admin": {"secureModeEnabled": True}},
        {"security": {"disableYoloMode": True}},
        {"model": {"summarizeToolOutput": {}}},
        {"somethingNew": True},
    ],
)
@pytest.mark.parametrize("place", ["home", "work"])
def test_any_setting_that_is_not_known_stands_in_the_way(tmp_path: Path, place: str, settings: object) -> None:
    write(tmp_path / place / ".gemini/settings.json", settings)
    assert obstacle(tmp_path, *LEAVE)


@pytest.mark.parametrize(
    "place",
    [
        "home/.gemini/policies/a.toml",
        "home/.gemini/extensions/a/gemini-extension.json",
        "work/.gemini/policies/a.toml",
        "managed/settings.json",
        "managed/policies/a.toml",
    ],
)
def test_any_file_that_may_say_more_stands_in_the_way(tmp_path: Path, place: str) -> None:
    write(tmp_path / place, {})
    assert obstacle(tmp_path, *LEAVE)


@pytest.mark.parametrize("name", ["GEMINI_SANDBOX", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_NEW", "BASH_ENV"])
def test_any_variable_that_may_change_commands_stands_in_the_way(tmp_path: Path, name: str) -> None:
    assert name in obstacle(tmp_path, *LEAVE, env={**KEY, name: str(tmp_path / "none")})


def test_so_does_any_in_a_file_of_variables(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/.env").write_text("GEMINI_MODEL=x\n")
    assert obstacle(tmp_path, *LEAVE) == ""
    (tmp_path / "work/.env").write_text("LC_ALL=C\n")
    assert obstacle(tmp_path, *LEAVE)


def test_an_account_may_have_an_administrator(tmp_path: Path) -> None:
    assert obstacle(tmp_path, *LEAVE, env={"GOOGLE_GENAI_USE_GCA": "true"})
