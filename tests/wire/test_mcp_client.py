"""The messages of our own MCP client."""

import json
from typing import Any

import pytest

from paste_proxy.wire.jsonrpc import Request, read_message
from paste_proxy.wire.mcp import PROTOCOL_VERSION, Era, era_of, tool_call
from paste_proxy.wire.mcp_client import STATELESS_VERSION, Dialect, Outgoing, initialize
from paste_proxy.wire.mcp_tools import ListedTool

CLIENT = ("paste-proxy", "1")
OLD = Dialect(era=Era.SESSION, version="2025-06-18", session_id="s1", client=CLIENT)
NEW = Dialect(era=Era.STATELESS, version=STATELESS_VERSION, client=CLIENT)


def body(sent: Outgoing) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(sent.body)
    return value


def test_b30_every_message_accepts_both_forms_of_an_answer() -> None:
    tool = ListedTool(name="f")
    for sent in (initialize(1, CLIENT), NEW.discover(1), OLD.list_tools(1), NEW.call(1, tool, {}), OLD.initialized()):
        assert sent.headers["Accept"] == "application/json, text/event-stream"
        assert sent.headers["Content-Type"] == "application/json"


def test_b27_a_session_is_opened_without_an_id_and_spoken_to_with_it() -> None:
    opening = initialize(1, CLIENT)
    assert "Mcp-Session-Id" not in opening.headers
    assert body(opening)["params"]["clientInfo"] == {"name": "paste-proxy", "version": "1"}
    assert body(OLD.initialized()) == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for sent in (OLD.initialized(), OLD.list_tools(2), OLD.call(3, ListedTool(name="f"), {"x": 1})):
        assert sent.headers["Mcp-Session-Id"] == "s1"
        assert sent.headers["MCP-Protocol-Version"] == "2025-06-18"
        assert "Mcp-Method" not in sent.headers
    assert body(OLD.call(3, ListedTool(name="f"), {"x": 1}))["params"] == {"name": "f", "arguments": {"x": 1}}


def test_b72_a_stateless_message_stands_alone_and_its_headers_agree_with_its_body() -> None:
    for sent, method in [
        (NEW.discover(1), "server/discover"),
        (NEW.list_tools(2, cursor="p2"), "tools/list"),
        (NEW.call(3, ListedTool(name="f"), {}), "tools/call"),
    ]:
        request = read_message(sent.body)
        assert isinstance(request, Request)
        assert era_of(request.params_raw) is Era.STATELESS
        assert sent.headers["Mcp-Method"] == request.method == method
        assert sent.headers["MCP-Protocol-Version"] == body(sent)["params"]["_meta"][PROTOCOL_VERSION]
        assert "Mcp-Session-Id" not in sent.headers
    assert NEW.call(3, ListedTool(name="f"), {}).headers["Mcp-Name"] == "f"
    assert "Mcp-Name" not in NEW.list_tools(2).headers
    assert body(NEW.list_tools(2, cursor="p2"))["params"]["cursor"] == "p2"


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("eu", "eu"),
        (True, "true"),
        (3, "3"),
        ("é", "=?base64?w6k=?="),
        (" x", "=?base64?IHg=?="),
        ("a\r\nb", "=?base64?YQ0KYg==?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        (None, None),
        ([], None),
    ],
)
def test_b72_marked_arguments_are_repeated_in_headers(value: Any, header: str | None) -> None:
    tool = ListedTool(name="f", mirrored=(("Mcp-Param-Region", ("where", "region")),))
    assert NEW.call(1, tool, {"where": {"region": value}}).headers.get("Mcp-Param-Region") == header
    assert "Mcp-Param-Region" not in NEW.call(1, tool, {"where": 1}).headers
    assert "Mcp-Param-Region" not in OLD.call(1, tool, {"where": {"region": value}}).headers


@pytest.mark.parametrize("dialect", [OLD, NEW], ids=["session", "stateless"])
def test_a_call_reads_back_as_what_was_meant(dialect: Dialect) -> None:
    arguments: dict[str, Any] = {"n": 12345678901234567890123, "s": "é\u2028", "o": {"b": [1.0, None]}}
    request = read_message(dialect.call(5, ListedTool(name="f"), arguments).body)
    assert isinstance(request, Request)
    call = tool_call(request)
    assert call is not None
    assert (call.id_raw, call.name, call.arguments, call.plain) == (b"5", "f", arguments, True)


@pytest.mark.parametrize("dialect", [OLD, NEW], ids=["session", "stateless"])
def test_a_request_is_taken_back_by_its_id(dialect: Dialect) -> None:
    sent = body(dialect.cancelled(5, "preempted"))
    assert "id" not in sent
    assert sent["params"]["requestId"] == 5
