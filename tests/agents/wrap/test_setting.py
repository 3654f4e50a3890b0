"""What a run's sidecar is configured with."""

from pathlib import Path

import pytest

from paste_proxy.agents.wrap.client import SESSION_HEADER, Found
from paste_proxy.agents.wrap.setting import Wish, setting
from paste_proxy.agents.wrap.sidecar import config_text
from paste_proxy.config import Config, LlmRoute, McpServer, load_config
from paste_proxy.errors import InputFault
from paste_proxy.speculation.types import Mode

FOUND = Found(
    routes=(LlmRoute(path="/llm", upstream="https://llm.example/v1"),),
    servers={"my fs": McpServer(command=("fs", "--root", "a b"), env={"K": '"v"\n'}, cwd=Path("/w"))},
)
BASE = """
host = "0.0.0.0"
port = 9000
policies = ["mine.toml", "builtin:coding"]
session_headers = ["session-id"]
[speculation]
mode = "observe"
slots = 3
[recording]
directory = "events"
[[llm]]
path = "/llm"
upstream = "https://other.example"
[[llm]]
path = "/v1"
upstream = "https://more.example/v1"
[mcp.my_fs]
url = "https://hidden.example"
[mcp.web]
url = "https://web.example"
"""


def test_without_a_config_it_is_what_the_client_needs_and_defaults(tmp_path: Path) -> None:
    config = setting(Wish(), FOUND, tmp_path)
    assert config.llm == FOUND.routes
    assert dict(config.mcp) == {"my_fs": FOUND.servers["my fs"]}
    assert config.speculation == Config().speculation
    assert (config.host, config.port) == ("127.0.0.1", 0)
    assert config.session_headers[0] == SESSION_HEADER


def test_a_config_in_the_folder_counts_and_the_client_goes_before_it(tmp_path: Path) -> None:
    (tmp_path / "paste.toml").write_text(BASE)
    config = setting(Wish(mode=Mode.SPECULATE, policies=("run.toml",)), FOUND, tmp_path)
    assert [(route.path, route.upstream) for route in config.llm] == [
        ("/llm", "https://llm.example/v1"),
        ("/v1", "https://more.example/v1"),
    ]
    assert sorted(config.mcp) == ["my_fs", "web"]
    assert config.mcp["my_fs"].command
    assert config.policies == (str(tmp_path / "run.toml"), str(tmp_path / "mine.toml"), "builtin:coding")
    assert (config.speculation.mode, config.speculation.slots) == (Mode.SPECULATE, 3)
    assert config.recording.directory == tmp_path / "events"
    assert config.session_headers == (SESSION_HEADER, "session-id")
    assert config.host == "127.0.0.1"


def test_a_config_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match=r"none\.toml"):
        setting(Wish(config=Path("none.toml")), FOUND, tmp_path)


def test_the_file_that_is_written_says_the_same_config(tmp_path: Path) -> None:
    (tmp_path / "paste.toml").write_text(BASE)
    config = setting(Wish(patterns=("builtin:coding",)), FOUND, tmp_path)
    path = tmp_path / "written.toml"
    path.write_text(config_text(config))
    assert load_config(path) == config
