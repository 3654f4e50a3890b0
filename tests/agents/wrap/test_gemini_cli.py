"""gemini-cli's configuration, read and turned."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.agents.wrap.client import SESSION_HEADER, Behind, Prepared, User
from paste_proxy.agents.wrap.gemini_cli import GeminiCli
from paste_proxy.errors import InputFault

BEHIND = Behind(url="http://127.0.0.1:9", session="run-1")
CLIENT = GeminiCli()
Settings = dict[str, Any]


@pytest.fixture
def user(tmp_path: Path) -> User:
    return a_user(tmp_path, {"GEMINI_API_KEY": "k"})


def a_user(root: Path, env: Mapping[str, str]) -> User:
    for name in ("home", "work", "system"):
        (root / name).mkdir(exist_ok=True)
    env = {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(root / "system/settings.json"), **env}
    return User(command=("gemini", "-p", "hi"), home=root / "home", folder=root / "work", env=env)


def write(path: Path, settings: Settings) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings))


def prepared(user: User) -> tuple[Prepared, Settings]:
    """What is started, and the settings it is started with."""
    home = user.home.parent / "stand-in"
    home.mkdir()
    result = CLIENT.prepare(user, CLIENT.find(user), BEHIND, home)
    path = home / ".gemini/settings.json"
    return result, json.loads(path.read_text()) if path.exists() else {}


@pytest.mark.parametrize(
    ("settings", "env", "upstream", "variable"),
    [
        ("gemini-api-key", {}, "https://generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL"),
        ("gemini-api-key", {"GOOGLE_GEMINI_BASE_URL": "http://h/x"}, "http://h/x", "GOOGLE_GEMINI_BASE_URL"),
        ("gateway", {"GOOGLE_GEMINI_BASE_URL": "http://h"}, "http://h", "GOOGLE_GEMINI_BASE_URL"),
        ("oauth-personal", {}, "https://cloudcode-pa.googleapis.com", "CODE_ASSIST_ENDPOINT"),
        ("oauth-personal", {"CODE_ASSIST_ENDPOINT": "http://h"}, "http://h", "CODE_ASSIST_ENDPOINT"),
        ("vertex-ai", {}, "https://aiplatform.googleapis.com", "GOOGLE_VERTEX_BASE_URL"),
        (
            "vertex-ai",
            {"GOOGLE_CLOUD_LOCATION": "eu"},
            "https://aiplatform.eu.rep.googleapis.com",
            "GOOGLE_VERTEX_BASE_URL",
        ),
        (
            "vertex-ai",
            {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "us-east1"},
            "https://us-east1-aiplatform.googleapis.com",
            "GOOGLE_VERTEX_BASE_URL",
        ),
        ("", {"GOOGLE_GENAI_USE_GCA": "true"}, "https://cloudcode-pa.googleapis.com", "CODE_ASSIST_ENDPOINT"),
    ],
)
def test_the_endpoint_is_that_of_the_way_it_signs_in(
    tmp_path: Path, settings: str, env: dict[str, str], upstream: str, variable: str
) -> None:
    user = a_user(tmp_path, env)
    if settings:
        write(user.home / ".gemini/settings.json", {"security": {"auth": {"selectedType": settings}}})
    found = CLIENT.find(user)
    assert [(route.path, route.upstream) for route in found.routes] == [("/llm", upstream)]
    assert prepared(user)[0].env[variable] == "http://127.0.0.1:9/llm"


def test_a_key_in_the_environment_needs_the_way_said_in_settings_since_an_address_speaks_for_another(
    user: User,
) -> None:
    result, settings = prepared(user)
    assert settings["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert result.env["GEMINI_CLI_HOME"] == str(user.home.parent / "stand-in")


def test_where_only_the_llm_is_to_be_turned_the_home_stays(user: User) -> None:
    write(user.home / ".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    result, settings = prepared(user)
    assert settings == {}
    assert "GEMINI_CLI_HOME" not in result.env
    assert result.mirrors == ()
    assert result.command == user.command


def test_before_the_first_sign_in_the_llm_stays_out_and_the_user_is_told(tmp_path: Path) -> None:
    found = CLIENT.find(a_user(tmp_path, {}))
    assert found.routes == ()
    assert "sign" in found.notes[0]


def test_the_users_servers_are_turned_and_all_else_is_kept(user: User) -> None:
    servers = {
        "fs": {"command": "fs", "args": ["$GEMINI_API_KEY"], "trust": True},
        "web": {"httpUrl": "https://web.example/mcp", "headers": {"Authorization": "$T"}},
        "old": {"url": "https://old.example/sse"},
    }
    own = {"mcpServers": servers, "ui": {"theme": "x"}, "security": {"auth": {"selectedType": "gemini-api-key"}}}
    write(user.home / ".gemini/settings.json", own)
    (user.home / ".gemini/oauth_creds.json").write_text("{}")
    found = CLIENT.find(user)
    assert found.servers["fs"].command == ("fs", "k")
    assert found.servers["web"].url == "https://web.example/mcp"
    assert len(found.notes) == 1
    assert "'old'" in found.notes[0]
    result, settings = prepared(user)
    assert settings["ui"] == own["ui"]
    assert settings["mcpServers"] == {
        "fs": {"trust": True, "httpUrl": "http://127.0.0.1:9/mcp/fs", "headers": {SESSION_HEADER: "run-1"}},
        "web": {
            "httpUrl": "http://127.0.0.1:9/mcp/web",
            "headers": {"Authorization": "$T", SESSION_HEADER: "run-1"},
        },
        "old": servers["old"],
    }
    assert (Path(result.env["GEMINI_CLI_HOME"]) / ".gemini/oauth_creds.json").is_symlink()
    assert json.loads((user.home / ".gemini/settings.json").read_text()) == own


def test_servers_of_settings_that_lie_over_the_users_stay_out_and_the_user_is_told(user: User) -> None:
    write(user.home / ".gemini/settings.json", {"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}})
    write(user.folder / ".gemini/settings.json", {"mcpServers": {"b": {"command": "p"}}})
    write(user.home.parent / "system/settings.json", {"mcpServers": {"s": {"command": "s"}}})
    write(user.home / ".gemini/extensions/ext/gemini-extension.json", {"mcpServers": {"e": {"command": "e"}}})
    found = CLIENT.find(user)
    assert list(found.servers) == ["a"]
    assert ["'b'" in found.notes[0], "'s'" in found.notes[1], "'ext'" in found.notes[2]] == [True] * 3


def test_the_run_is_named_beside_the_users_own_headers(user: User) -> None:
    (user.folder / ".env").write_text("GEMINI_CLI_CUSTOM_HEADERS=X-Own: 1\n")
    assert prepared(user)[0].env["GEMINI_CLI_CUSTOM_HEADERS"] == f"X-Own: 1, {SESSION_HEADER}: run-1"


def test_an_endpoint_in_the_nearest_env_file_counts_if_none_is_exported(user: User) -> None:
    (user.folder / ".gemini").mkdir()
    (user.folder / ".gemini/.env").write_text("GOOGLE_GEMINI_BASE_URL=http://near\n")
    (user.home / ".env").write_text("GOOGLE_GEMINI_BASE_URL=http://far\n")
    assert CLIENT.find(user).routes[0].upstream == "http://near"


def test_servers_see_no_secrets_as_they_would_not_without_us(tmp_path: Path) -> None:
    env = CLIENT.find(a_user(tmp_path, {"GEMINI_API_KEY": "k", "GITHUB_TOKEN": "t", "EDITOR": "vi"})).server_env
    assert env is not None
    assert env["EDITOR"] == "vi"
    assert env["GEMINI_CLI"] == "1"
    assert not {"GEMINI_API_KEY", "GITHUB_TOKEN"} & set(env)


def test_settings_that_the_client_would_not_start_with_are_told(user: User) -> None:
    path = user.home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text("{")
    with pytest.raises(InputFault, match=str(path)):
        CLIENT.find(user)
