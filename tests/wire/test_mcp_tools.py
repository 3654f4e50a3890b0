"""What servers list of their tools."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.mcp_tools import ListedTool, listed_tools, next_cursor
from tests.wire.test_jsonspans import JSON


def test_listed_tools_carry_their_hints_and_the_protocols_defaults() -> None:
    schema = {
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "at": {"properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
        }
    }
    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    tools: list[Any] = [
        {"name": "a", "annotations": hints, "inputSchema": schema, "execution": {"taskSupport": "required"}},
        {"name": "b", "annotations": {"readOnlyHint": "yes"}, "inputSchema": [], "execution": None},
        {"title": "nameless"},
        None,
    ]
    raw = json.dumps({"tools": tools, "nextCursor": "p2"}).encode()
    full, bare = listed_tools(raw)
    assert full == ListedTool(
        name="a",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
        task_required=True,
        mirrored=(("Mcp-Param-Region", ("region",)), ("Mcp-Param-Zone", ("at", "zone"))),
        arguments=frozenset({"region", "at"}),
    )
    assert bare == ListedTool(name="b", read_only=False, destructive=True, idempotent=False, open_world=True)
    assert next_cursor(raw) == "p2"
    assert next_cursor(b'{"tools":[]}') is None


@pytest.mark.parametrize(
    ("more", "takes_others"),
    [
        ({}, False),
        ({"$schema": "s", "title": "t", "$defs": {}}, False),
        ({"additionalProperties": False}, False),
        ({"unevaluatedProperties": False, "additionalProperties": False}, False),
        ({"additionalProperties": True}, True),
        ({"additionalProperties": {"type": "string"}}, True),
        ({"additionalProperties": False, "patternProperties": {"^wait": {}}}, True),
        ({"allOf": [{"properties": {"wait_for_previous": {}}}]}, True),
        ({"$ref": "#/$defs/arguments"}, True),
    ],
    ids=str,
)
def test_what_a_schema_says_of_arguments_it_does_not_name(more: dict[str, Any], takes_others: bool) -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, **more}
    (tool,) = listed_tools(json.dumps({"tools": [{"name": "f", "inputSchema": schema}]}).encode())
    assert (tool.arguments, tool.takes_others) == (frozenset({"a", "b"}), takes_others)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_nothing_raises(raw: bytes) -> None:
    listed_tools(raw)
    next_cursor(raw)
    listed_tools(b'{"tools":[{"name":"f","inputSchema":' + raw + b"}]}")
