"""Codex's configuration: what of it can go through a sidecar, and what its command line then says."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.agents.wrap import stdio_bridge
from paste_proxy.agents.wrap.client import Behind, Found, User
from paste_proxy.agents.wrap.codex import Codex
from paste_proxy.config import LlmRoute, McpServer
from paste_proxy.errors import InputFault

BEHIND = Behind(url="http://127.0.0.1:9", session="run")
KEY = {"CODEX_API_KEY": "k"}
CUSTOM = """model_provider = "port"
[model_providers.port]
base_url = "https://port/v1"
"""


@pytest.fixture
def user(tmp_path: Path) -> User:
    home, folder = tmp_path / "home", tmp_path / "folder"
    (home / ".codex").mkdir(parents=True)
    folder.mkdir()
    return User(command=("codex", "exec", "hello"), home=home, folder=folder, env=KEY)


def with_(user: User, *command: str, env: dict[str, str] | None = None) -> User:
    return User(command=command or user.command, home=user.home, folder=user.folder, env=KEY if env is None else env)


def write(user: User, text: str, name: str = "config.toml") -> None:
    (user.home / ".codex" / name).write_text(text)


def said(user: User) -> dict[str, Any]:
    """What the prepared command line overrides."""
    prepared = Codex().prepare(user, Codex().find(user), BEHIND, user.home)
    words = prepared.command[1:]
    pairs = [words[at + 1] for at, word in enumerate(words) if word == "-c"]
    return {key: tomllib.loads(f"v = {value}")["v"] for key, _, value in (pair.partition("=") for pair in pairs)}


@pytest.mark.parametrize(
    "command",
    [
        ("codex",),
        ("/usr/bin/codex", "exec"),
        ("npx", "@openai/codex", "exec"),
        ("node", "/x/node_modules/@openai/codex/bin/codex.js"),
    ],
)
def test_it_is_known_by_name_path_and_package(command: tuple[str, ...]) -> None:
    assert Codex().recognises(command)


def test_others_are_not_taken_for_it() -> None:
    assert not Codex().recognises(("codexx",))
    assert not Codex().recognises(("python", "codex.py"))


def test_its_own_provider_asks_where_the_login_is_for(user: User) -> None:
    chatgpt = {"auth_mode": "chatgpt", "tokens": {"id_token": "t"}}
    for env, login, upstream in [
        (KEY, None, "https://api.openai.com/v1"),
        ({}, {"auth_mode": "apikey", "OPENAI_API_KEY": "k"}, "https://api.openai.com/v1"),
        ({}, chatgpt, "https://chatgpt.com/backend-api/codex"),
        (KEY, chatgpt, "https://api.openai.com/v1"),
    ]:
        (user.home / ".codex/auth.json").write_text(json.dumps(login or {}))
        found = Codex().find(with_(user, env=env))
        assert found.routes == (LlmRoute(path="/codex", upstream=upstream, websockets=False),)
        assert not found.notes


def test_without_a_login_to_be_seen_it_is_left_alone_and_the_user_is_told(user: User) -> None:
    alone = with_(user, env={})
    assert Codex().find(alone).routes == ()
    assert "login" in Codex().find(alone).notes[0]
    assert said(alone) == {}


def test_its_own_provider_is_turned_and_names_its_session_itself(user: User) -> None:
    write(user, 'openai_base_url = "http://gateway/v1"\n[mcp_servers.a]\nurl = "http://a/mcp"')
    assert Codex().find(user).routes[0].upstream == "http://gateway/v1"
    assert said(user) == {
        "openai_base_url": "http://127.0.0.1:9/codex",
        "mcp_servers.a.url": "http://127.0.0.1:9/mcp/a",
    }


def test_a_provider_of_the_users_is_turned_and_tagged(user: User) -> None:
    write(user, CUSTOM + '[mcp_servers.a]\nurl = "http://a/mcp"')
    assert Codex().find(user).routes[0].upstream == "https://port/v1"
    assert said(user) == {
        "model_providers.port.base_url": "http://127.0.0.1:9/codex",
        "model_providers.port.http_headers.x-paste-session": "run",
        "mcp_servers.a.url": "http://127.0.0.1:9/mcp/a",
        "mcp_servers.a.http_headers.x-paste-session": "run",
    }


def test_a_program_becomes_a_bridge_and_keeps_what_else_is_said_of_it(user: User) -> None:
    write(user, CUSTOM + '[mcp_servers.a]\ncommand = "serve"\nargs = ["x"]\nenv = {A = "1"}\nenabled_tools = ["t"]')
    server = McpServer(command=("serve", "x"), env={"A": "1"}, cwd=user.folder)
    assert Codex().find(user).servers == {"a": server}
    bridge = ["-I", "-S", stdio_bridge.__file__, "http://127.0.0.1:9/mcp/a", "x-paste-session=run"]
    told = said(user)
    assert told["mcp_servers.a.command"] == sys.executable
    assert told["mcp_servers.a.args"] == bridge


def test_the_command_line_outranks_a_profile_and_that_the_file(user: User) -> None:
    write(user, CUSTOM)
    write(user, '[model_providers.port]\nbase_url = "https://profile/v1"', "night.config.toml")
    for more, upstream in [
        ((), "https://port/v1"),
        (("-p", "night"), "https://profile/v1"),
        (("--profile=night", "-c", 'model_providers.port.base_url="https://line/v1"'), "https://line/v1"),
        (("-pnight", "--config", "model_providers.port.base_url=https://line/v1"), "https://line/v1"),
        (("--", "-p", "night"), "https://port/v1"),
    ]:
        assert Codex().find(with_(user, "codex", *more)).routes[0].upstream == upstream


def test_an_override_of_the_users_gives_way_to_ours_and_others_stay(user: User) -> None:
    asked = with_(user, "codex", "-c", "openai_base_url=http://mine", "exec", "--config=model=x", "hi")
    prepared = Codex().prepare(asked, Codex().find(asked), BEHIND, user.home)
    assert prepared.command == (
        *("codex", "-c", 'openai_base_url="http://127.0.0.1:9/codex"'),
        *("exec", "--config=model=x", "hi"),
    )
    assert prepared.env == KEY


def test_a_trusted_projects_servers_count_and_its_provider_does_not(user: User) -> None:
    project = user.folder / ".codex"
    project.mkdir()
    (project / "config.toml").write_text('openai_base_url = "http://evil"\n[mcp_servers.p]\nurl = "http://p/mcp"')
    assert not Codex().find(user).servers
    write(user, f'[projects."{user.folder}"]\ntrust_level = "trusted"')
    found = Codex().find(user)
    assert found.servers == {"p": McpServer(url="http://p/mcp")}
    assert found.routes[0].upstream == "https://api.openai.com/v1"


def test_what_cannot_be_turned_is_left_and_said(user: User) -> None:
    write(
        user,
        '[mcp_servers.a]\nurl = "http://a/mcp"\n[mcp_servers."b.c"]\ncommand = "b"\n[mcp_servers.d]\nurl = "http://d"',
    )
    (user.home / ".codex/.credentials.json").write_text(json.dumps({"d|1": {"server_name": "d"}}))
    found = Codex().find(user)
    assert list(found.servers) == ["a"]
    assert len(found.notes) == 2
    assert Codex().find(with_(user, "codex", "--oss")).routes == ()
    write(user, 'model_provider = "amazon-bedrock"')
    assert "asked directly" in Codex().find(user).notes[0]


def test_a_server_that_is_off_stays_off(user: User) -> None:
    write(user, '[mcp_servers.a]\nurl = "http://a/mcp"\nenabled = false')
    assert Codex().find(user) == Found(routes=Codex().find(user).routes)
    assert list(said(user)) == ["openai_base_url"]


@pytest.mark.parametrize("text", ["model = ", 'model_provider = "nobody"'])
def test_a_configuration_that_codex_would_refuse_is_refused_by_its_place(user: User, text: str) -> None:
    write(user, text)
    with pytest.raises(InputFault, match=r"config\.toml"):
        Codex().find(user)
