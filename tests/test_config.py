"""The config file: whatever is wrong with it is said in one sentence that names file, key and what belongs there."""

import json
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.config import Config, load_config
from paste_proxy.errors import InputFault
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import compose

SOUND: dict[str, Any] = {
    "port": 0,
    "llm": [{"path": "/v1", "upstream": "http://127.0.0.1:1/v1"}],
    "mcp": {"files": {"command": ["a", "b"], "env": {"A": "b"}}, "web": {"url": "http://127.0.0.1:1/"}},
    "tools": {"t": {"url": "http://127.0.0.1:2/", "timeout_s": 3.0}, "u": {"command": ["cat"]}},
    "speculation": {"mode": "observe", "slots": 2, "ttl_s": 1.0},
    "capacity": {"files": {"total": 1}},
    "drain_s": 2.0,
}
TABLES: list[tuple[list[str | int], tuple[str, ...]]] = [
    ([], tuple(SOUND)),
    (["llm", 0], ("path", "upstream", "surprise")),
    (["mcp", "files"], ("command", "env", "cwd", "url")),
    (["tools", "t"], ("url", "command", "timeout_s")),
    (["speculation"], ("mode", "slots", "ttl_s", "min_confidence")),
]
PLACES = [[*table, key] for table, keys in TABLES for key in keys]
WRONG = ["true", "-1", "1e400", "nan", "inf", '""', '"\\u0000"', '"x"', "[]", "[[]]", "{}", "{a = 1}", "2020-01-01"]
WRONG += ["9" * 400, '"http://"', '"http://a:0"', '"http://[::1"', '"http://a b/"', f'"{"x" * 5000}"']


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return value.text if isinstance(value, Written) else json.dumps(value)


class Written:
    """A value as it stands in the file."""

    def __init__(self, text: str) -> None:
        self.text = text


def with_one(place: list[str | int], text: str) -> str:
    changed = json.loads(json.dumps(SOUND))
    table = changed
    for key in place[:-1]:
        table = table[key]
    table[place[-1]] = Written(text)
    return "\n".join(f"{key} = {toml(value)}" for key, value in changed.items())


def written(folder: Path, text: str) -> Path:
    path = folder / "paste.toml"
    path.write_text(text, "utf-8")
    return path


def served(config: Config) -> None:
    """Everything that `serve` does with a config before it binds."""
    build_app(config, compose(config))


def test_a_sound_config_is_taken(tmp_path: Path) -> None:
    served(load_config(written(tmp_path, with_one(["port"], "0"))))


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_any_wrong_value_is_refused_by_file_and_key_or_can_be_served(tmp_path: Path, wrong: str) -> None:
    for place in PLACES:
        path = written(tmp_path, with_one(place, wrong))
        said = ""
        try:
            served(load_config(path))
        except InputFault as fault:
            said = str(fault)
        assert not said or said.startswith(f"{path}: {place[0]}")
        assert len(said) < 1_000


@pytest.mark.parametrize(
    ("text", "where", "found", "expected"),
    [
        ("x = " + "[" * 50_000, "", "not TOML", "a TOML file"),
        ("a" + ".a" * 2_000 + " = 1", "", "", ""),
        ("prot = 1", ": prot", "an unknown key", "port, most likely; the keys here are host, port, llm"),
        ("polices = []", ": polices", "an unknown key", "policies, most likely"),
        ("slots = 3", ": slots", "an unknown key", "slots below [speculation]"),
        (
            "[speculation]\nslot = 3",
            ": speculation.slot",
            "an unknown key",
            "slots, most likely; the keys here are mode",
        ),
        ('[mcp.x]\nzzz = 3\nurl = "http://a"', ": mcp.x.zzz", "an unknown key", "url, command, env, cwd, stateless"),
        ('[llm]\npath = "/v1"\napi_key = "k"', ": llm", "a table with path, api_key", "[[llm]], in double brackets"),
        ('[[mcp]]\nurl = "http://a"', ": mcp", "a list of tables", "[mcp.NAME], in single brackets"),
        ('[[mcp.x]]\nurl = "http://a"', ": mcp.x", "a list of tables", "[mcp.NAME], in single brackets"),
        ('[tools]\nurl = "http://a"', ": tools.url", "'http://a'", "[tools.NAME]"),
        ("[[recording]]", ": recording", "a list of tables", "[recording], in single brackets"),
        ('[mcp.x]\ncommand = "npx -y foo"', ": mcp.x.command", "'npx -y foo'", '["npx", "-y", "foo"]'),
        ('[mcp.x]\ncommand = ["a"]\nstateless = "maybe"', ": mcp.x.stateless", "'maybe'", "true or false"),
        ('llm = [{path = "v1", upstream = "http://a"}]', ": llm[0].path", "'v1'", "begins with /"),
        ('llm = [{path = "/", upstream = "a.com/v1"}]', ": llm[0].upstream", "a.com/v1", "such as https://"),
        ("port = 99999", ": port", "99999", "a number less than or equal to 65535"),
        ('port = "x"', ": port", "'x'", "a whole number"),
        ('port = "8"', ": port", "'8'", "a whole number"),
        ("port = true", ": port", "True", "a whole number"),
        ("port = 8.0", ": port", "8.0", "a whole number"),
        ('llm = [{path = "/v1", upstream = "http://a", ports = ["8"]}]', ": llm[0].ports[0]", "'8'", "a whole number"),
        ('drain_s = "8"', ": drain_s", "'8'", "a number"),
        ("drain_s = true", ": drain_s", "True", "a number"),
        ('[mcp.x]\ncommand = ["a"]\nstateless = "yes"', ": mcp.x.stateless", "'yes'", "true or false"),
        ('[mcp.x]\ncommand = ["a"]\nstateless = 1', ": mcp.x.stateless", "1", "true or false"),
        ('llm = [{path = "/v1", upstream = "http://a", api_key = "sk-1"}]', ": llm[0].api_key", "unknown", "upstream"),
        ('llm = [{path = "/v1"}]', ": llm[0].upstream", "nothing", "this key"),
        ('policies = "a x"', ": policies", "'a x'", 'a list: ["a x"]'),
        ("llm = [1]", ": llm[0]", "1", "a table"),
        ("[mcp.x]", ": mcp.x", "an empty table", "one of url, command and workbench"),
        ('[mcp.x]\nurl = "http://a"\nworkbench = "."', ": mcp.x", "", "one of url, command and workbench"),
        ('[mcp.x]\nurl = "http://a"\nread_only = true', ": mcp.x", "", "read_only beside a workbench"),
        ('[mcp.x]\nworkbench = "nowhere"', ": mcp.x.workbench", "nowhere is no folder", "the folder"),
        ("drain_s = inf", ": drain_s", "inf", "less than"),
        ('[mcp."a/b"]\ncommand = ["x"]', ": mcp.a/b", "'a/b'", "letters, digits"),
        ('[tools.t]\nurl = "http://a:x"', ": tools.t.url", "http://a:x", "a port from 1 to 65535"),
    ],
)
def test_a_fault_names_file_and_key_and_says_what_belongs_there(
    tmp_path: Path, text: str, where: str, found: str, expected: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputFault) as raised:
        load_config(path)
    fault = raised.value
    assert fault.where.startswith(f"{path}{where}")
    assert (found in fault.found, expected in fault.expected) == (True, True), str(fault)


def test_the_value_of_an_unknown_key_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(InputFault) as raised:
        load_config(written(tmp_path, 'llm = [{path = "/v1", upstream = "http://a", api_key = "sk-1234"}]'))
    assert "sk-1234" not in str(raised.value)
