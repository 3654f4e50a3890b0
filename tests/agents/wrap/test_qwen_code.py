"""qwen-code's configuration, read and turned."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.agents.wrap.client import SESSION_HEADER, Behind, Prepared, User
from paste_proxy.agents.wrap.qwen_code import QwenCode

BEHIND = Behind(url="http://127.0.0.1:9", session="run-1")
TAG = {SESSION_HEADER: "run-1"}
CLIENT = QwenCode()
OPENAI = {"security": {"auth": {"selectedType": "openai"}}}
Settings = dict[str, Any]


def a_user(root: Path, settings: Settings, env: Mapping[str, str] = {}, *options: str) -> User:
    for name in ("home/.qwen", "work/.qwen", "system"):
        (root / name).mkdir(parents=True, exist_ok=True)
    write(root / "home/.qwen/settings.json", settings)
    env = {"QWEN_CODE_SYSTEM_SETTINGS_PATH": str(root / "system/settings.json"), "OPENAI_API_KEY": "k", **env}
    return User(command=("qwen", "-p", "hi", *options), home=root / "home", folder=root / "work", env=env)


def write(path: Path, settings: Settings) -> None:
    path.write_text(json.dumps(settings))


def prepared(user: User) -> tuple[Prepared, Settings]:
    """What is started, and the system settings it is started with."""
    home = user.home.parent / "ours"
    home.mkdir()
    result = CLIENT.prepare(user, CLIENT.find(user), BEHIND, home)
    return result, json.loads(Path(result.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"]).read_text())


def upstreams(user: User) -> list[tuple[str, str]]:
    return [(route.path, route.upstream) for route in CLIENT.find(user).routes]


def test_an_endpoint_in_the_environment_is_turned_there(tmp_path: Path) -> None:
    user = a_user(tmp_path, OPENAI, {"OPENAI_BASE_URL": "http://h/v1", "OPENAI_MODEL": "m"})
    assert upstreams(user) == [("/llm", "http://h/v1")]
    result, settings = prepared(user)
    assert result.env["OPENAI_BASE_URL"] == "http://127.0.0.1:9/llm"
    assert settings["model"]["generationConfig"]["customHeaders"] == TAG
    assert result.mirrors == ()


@pytest.mark.parametrize(
    ("place", "upstream"),
    [
        ("work/.qwen/.env", "http://near"),
        ("work/.env", "http://near"),
        ("home/.qwen/.env", "http://near"),
        ("home/.env", "http://near"),
    ],
)
def test_env_files_count_where_nothing_is_exported(tmp_path: Path, place: str, upstream: str) -> None:
    user = a_user(tmp_path, {**OPENAI, "env": {"OPENAI_BASE_URL": "http://settings"}}, {"OPENAI_BASE_URL": ""})
    assert upstreams(user) == [("/llm", "http://settings")]
    (tmp_path / place).write_text(f"OPENAI_BASE_URL={upstream}\n")
    assert upstreams(user) == [("/llm", upstream)]


def test_without_any_endpoint_it_is_the_vendors(tmp_path: Path) -> None:
    assert upstreams(a_user(tmp_path, OPENAI)) == [("/llm", "https://api.openai.com/v1")]
    anthropic = {"security": {"auth": {"selectedType": "anthropic"}}}
    assert upstreams(a_user(tmp_path, anthropic)) == [("/llm", "https://api.anthropic.com")]


def test_an_option_goes_before_the_environment_and_is_turned_too(tmp_path: Path) -> None:
    user = a_user(tmp_path, OPENAI, {"OPENAI_BASE_URL": "http://env"}, "--openai-base-url", "http://option")
    assert upstreams(user) == [("/llm", "http://option")]
    assert prepared(user)[0].command[-1] == "http://127.0.0.1:9/llm"


def test_every_model_of_every_provider_is_turned_and_the_one_in_use_comes_first(tmp_path: Path) -> None:
    providers = {
        "openai": [
            {"id": "a", "baseUrl": "http://one/v1", "generationConfig": {"customHeaders": {"X": "1"}, "timeout": 5}},
            {"id": "b", "baseUrl": "http://two/v1", "envKey": "K"},
            {"id": "c", "baseUrl": "http://one/v1"},
        ]
    }
    model = {"name": "b", "baseUrl": "http://two/v1"}
    user = a_user(tmp_path, {**OPENAI, "modelProviders": providers, "model": model})
    assert upstreams(user) == [("/llm", "http://two/v1"), ("/llm-2", "http://one/v1")]
    _, settings = prepared(user)
    one, two = "http://127.0.0.1:9/llm-2", "http://127.0.0.1:9/llm"
    assert settings["modelProviders"]["openai"] == [
        {"id": "a", "baseUrl": one, "generationConfig": {"customHeaders": {"X": "1", **TAG}, "timeout": 5}},
        {"id": "b", "baseUrl": two, "envKey": "K", "generationConfig": {"customHeaders": TAG}},
        {"id": "c", "baseUrl": one, "generationConfig": {"customHeaders": TAG}},
    ]
    assert settings["model"] == {"baseUrl": two}


def test_dashscope_is_still_known_for_what_it_is(tmp_path: Path) -> None:
    base = "https://dashscope.aliyuncs.com/compatible-mode/v1"
    user = a_user(tmp_path, OPENAI, {"OPENAI_BASE_URL": base})
    assert CLIENT.find(user).notes == ()
    result, _ = prepared(user)
    assert result.env["DASHSCOPE_PROXY_BASE_URL"] == result.env["OPENAI_BASE_URL"] == "http://127.0.0.1:9/llm"


def test_of_a_host_that_the_client_treats_in_a_way_of_its_own_the_user_is_told(tmp_path: Path) -> None:
    notes = CLIENT.find(a_user(tmp_path, OPENAI, {"OPENAI_BASE_URL": "https://api.deepseek.com"})).notes
    assert "https://api.deepseek.com" in notes[0]


def test_a_way_to_sign_in_that_cannot_be_turned_is_told(tmp_path: Path) -> None:
    found = CLIENT.find(a_user(tmp_path, {"security": {"auth": {"selectedType": "qwen-oauth"}}}))
    assert found.routes == ()
    assert "sign in" in found.notes[0]


def test_servers_are_turned_over_the_users_settings_which_stay(tmp_path: Path) -> None:
    servers = {"fs": {"command": "fs", "includeTools": ["x"]}, "old": {"url": "http://h/sse"}, "off": {"tcp": "h:1"}}
    user = a_user(tmp_path, {**OPENAI, "mcpServers": servers})
    write(tmp_path / "system/settings.json", {"ui": {"theme": "x"}, "mcpServers": {"s": {"httpUrl": "http://s"}}})
    found = CLIENT.find(user)
    assert sorted(found.servers) == ["fs", "s"]
    assert len(found.notes) == 2
    result, settings = prepared(user)
    assert settings["ui"] == {"theme": "x"}
    assert settings["mcpServers"] == {
        "fs": {"includeTools": ["x"], "httpUrl": "http://127.0.0.1:9/mcp/fs", "headers": TAG},
        "s": {"httpUrl": "http://127.0.0.1:9/mcp/s", "headers": TAG},
    }
    assert result.env["QWEN_CODE_SYSTEM_DEFAULTS_PATH"] == str(tmp_path / "system/system-defaults.json")


def test_a_projects_servers_are_turned_only_where_the_client_asks_no_leave_for_them(tmp_path: Path) -> None:
    user = a_user(tmp_path, {**OPENAI, "mcpServers": {"mine": {"command": "m"}, "both": {"command": "m"}}})
    write(tmp_path / "work/.qwen/settings.json", {"mcpServers": {"both": {"command": "p"}}})
    write(tmp_path / "work/.mcp.json", {"mcpServers": {"shared": {"type": "http", "url": "http://h"}}})
    found = CLIENT.find(user)
    assert list(found.servers) == ["mine"]
    assert len([note for note in found.notes if "approve" in note]) == 2
    trusting = User(command=(*user.command, "--yolo"), home=user.home, folder=user.folder, env=user.env)
    found = CLIENT.find(trusting)
    assert found.servers["both"].command == ("p",)
    assert found.servers["shared"].url == "http://h"


def test_a_projects_broken_files_are_the_clients_to_complain_of(tmp_path: Path) -> None:
    user = a_user(tmp_path, OPENAI)
    (tmp_path / "work/.mcp.json").write_text("{")
    assert CLIENT.find(user).servers == {}
