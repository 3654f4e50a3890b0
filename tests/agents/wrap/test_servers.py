"""MCP entries of agents: read for the sidecar, and turned to it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.agents.wrap.client import SESSION_HEADER, Behind
from paste_proxy.agents.wrap.servers import Entries, expansion, read_servers, turned
from paste_proxy.config import McpServer
from paste_proxy.events.values import Json

FOLDER = Path("/work")
BEHIND = Behind(url="http://127.0.0.1:9", session="run-1")
ENV = {"TOKEN": "t", "DIR": "/data"}


def read(entries: Entries, **options: object) -> tuple[dict[str, McpServer], tuple[str, ...]]:
    return read_servers(entries, expand=expansion(ENV), folder=FOLDER, **options)  # type: ignore[arg-type]


def test_a_command_is_run_where_the_client_would_with_variables_filled_in() -> None:
    servers, notes = read({"fs": {"command": "npx", "args": ["-y", "fs", "$DIR"], "env": {"T": "${TOKEN}"}}})
    assert servers == {"fs": McpServer(command=("npx", "-y", "fs", "/data"), env={"T": "t"}, cwd=FOLDER)}
    assert notes == ()


def test_a_relative_cwd_counts_from_the_working_folder() -> None:
    servers, _ = read({"fs": {"command": "x", "cwd": "sub"}})
    assert servers["fs"].cwd == FOLDER / "sub"


def test_an_http_server_is_known_by_its_address_alone() -> None:
    servers, _ = read({"a": {"httpUrl": "http://h/mcp?k=$TOKEN", "headers": {"X": "$TOKEN"}}})
    assert servers == {"a": McpServer(url="http://h/mcp?k=t")}


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"url": "http://h/sse", "type": "sse"}, "sse transport"),
        ({"url": "http://h/any"}, "SSE"),
        ({"httpUrl": "http://h", "oauth": {"enabled": True}}, "signs in"),
        ({"tcp": "h:1"}, "transport"),
        ({"command": 3}, "transport"),
        ({"command": "x", "args": "not a list"}, "unexpected kind"),
        ({"httpUrl": "ftp://h"}, "unexpected kind"),
        ("x", "not an object"),
    ],
)
def test_what_cannot_be_turned_stays_and_is_told(entry: Json, why: str) -> None:
    servers, notes = read({"a": entry})
    assert servers == {}
    assert len(notes) == 1
    assert "'a'" in notes[0]
    assert why in notes[0]


def test_what_is_switched_off_is_passed_over_in_silence() -> None:
    assert read({"a": {"command": "x", "disabled": True}, "b": {"command": "x", "enabled": False}}) == ({}, ())


def test_an_untyped_address_is_what_it_is_to_the_client() -> None:
    assert read({"a": {"url": "http://h"}}, plain_url="http")[0] == {"a": McpServer(url="http://h")}
    assert "sse" in read({"a": {"url": "http://h"}}, plain_url="sse")[1][0]


def test_of_two_names_that_a_sidecar_cannot_tell_apart_the_second_stays() -> None:
    servers, notes = read({"my fs": {"command": "x"}, "my_fs": {"command": "y"}})
    assert list(servers) == ["my fs"]
    assert "'my_fs'" in notes[0]


def test_a_turned_entry_keeps_all_that_does_not_say_where_the_server_is() -> None:
    entry: Json = {
        "command": "x",
        "args": ["a"],
        "env": {"K": "v"},
        "cwd": ".",
        "trust": True,
        "timeout": 9,
        "new": [1],
    }
    assert turned(entry, "fs", BEHIND, key="httpUrl") == {
        "trust": True,
        "timeout": 9,
        "new": [1],
        "httpUrl": "http://127.0.0.1:9/mcp/fs",
        "headers": {SESSION_HEADER: "run-1"},
    }


def test_the_headers_of_an_http_server_go_on_as_they_are_written() -> None:
    entry: Json = {"url": "http://h", "type": "http", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    assert turned(entry, "my server", BEHIND, key="url") == {
        "type": "http",
        "url": "http://127.0.0.1:9/mcp/my_server",
        "headers": {"Authorization": "Bearer ${TOKEN}", SESSION_HEADER: "run-1"},
    }


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("$TOKEN-${TOKEN}", "t-t"),
        ("$NONE ${NONE}", "$NONE ${NONE}"),
        ("${NONE:-x} ${TOKEN:-x}", "x t"),
        ("$", "$"),
        ("a$$TOKEN", "a$t"),
    ],
)
def test_variables_as_in_a_shell(written: str, filled: str) -> None:
    assert expansion(ENV)(written) == filled


def test_variables_of_clients_that_know_only_braces_or_no_defaults() -> None:
    assert expansion(ENV, bare=False)("$TOKEN ${TOKEN} ${NO:-x}") == "$TOKEN t x"
    assert expansion(ENV, defaults=False)("$TOKEN ${NO:-x}") == "t ${NO:-x}"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("command", "args", "env", "cwd", "url", "httpUrl", "type", "transport", "headers", "disabled", "oauth")


@given(st.dictionaries(st.text(max_size=8), JSON | st.dictionaries(st.sampled_from(KEYS), JSON), max_size=3))
def test_no_entry_is_too_strange_to_be_read(entries: dict[str, Json]) -> None:
    servers, _ = read(entries)
    for name in servers:
        again = turned(entries[name], name, BEHIND, key="httpUrl")
        assert again["httpUrl"] == BEHIND.mcp(name)
