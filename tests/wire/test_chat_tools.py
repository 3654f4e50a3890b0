"""Tools as every wire offers them, in one form."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.values import Json, dumps
from paste_proxy.wire.chat_tools import chat_tools, name_of_tool, shortened
from paste_proxy.wire.protocols import WIRES
from tests.field_cases.samples import SAMPLES
from tests.wire.reading import recorded, request_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"q": {"type": "string", "description": "what"}, "description": {"type": "integer"}},
    "required": ["q"],
}
UPPER: dict[str, Any] = {
    "type": "OBJECT",
    "properties": {"q": {"type": "STRING", "description": "what"}, "description": {"type": "INTEGER"}},
    "required": ["q"],
}
SAID: dict[str, Any] = {"name": "look", "description": "Looks."}
WANTED: dict[str, Any] = {"type": "function", "function": {**SAID, "parameters": SCHEMA}}


@pytest.mark.parametrize(
    "entry",
    [
        WANTED,
        {**SAID, "parameters": SCHEMA},
        {"type": "function", **SAID, "parameters": SCHEMA, "strict": True},
        {**SAID, "input_schema": SCHEMA},
        {"functionDeclarations": [{**SAID, "parameters": UPPER}]},
        {"function_declarations": [{**SAID, "parameters_json_schema": SCHEMA}]},
        {"functionDeclarations": [{**SAID, "parametersJsonSchema": SCHEMA}]},
    ],
)
def test_each_wires_form_reads_to_the_same(entry: Any) -> None:
    assert list(chat_tools([entry])) == [WANTED]


def test_a_namespace_stands_before_its_tools_names() -> None:
    (tool,) = chat_tools([{"type": "namespace", "name": "mcp__files", "tools": [{"type": "function", **SAID}]}])
    assert name_of_tool(tool) == "mcp__files__look"


def test_a_custom_tool_takes_its_text_as_one_argument() -> None:
    entries: list[Json] = [{"type": "custom", **SAID}, {"type": "custom", "custom": SAID}]
    for entry in entries:
        (tool,) = chat_tools([entry])
        assert tool["function"] == {
            **SAID,
            "parameters": {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]},
        }


def test_what_the_vendor_runs_and_what_is_no_tool_is_left_out() -> None:
    assert list(chat_tools([{"type": "web_search"}, {"googleSearch": {}}, None, 7, {"name": ""}, [], "x"])) == []


def test_a_shortened_tool_keeps_its_arguments() -> None:
    assert shortened(WANTED, 4) == {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look",
            "parameters": {
                "type": "object",
                "properties": {"q": {"type": "string"}, "description": {"type": "integer"}},
                "required": ["q"],
            },
        },
    }


@pytest.mark.parametrize("wire", list(WIRES))
def test_every_tool_that_a_wire_names_is_described(wire: str) -> None:
    request = request_of(WIRES[wire], SAMPLES[wire].request, SAMPLES[wire].target)
    assert tuple(map(name_of_tool, chat_tools(request.offered))) == request.tools
    assert request.tools


@pytest.mark.parametrize(
    ("wire", "folder", "without_schema"),
    [
        ("openai_chat", "qwen-code/q1", set()),
        ("openai_responses", "codex/x1", {"local_shell", "shell", "apply_patch", "computer"}),
        ("anthropic_messages", "claude-code/a1", set()),
        ("gemini", "gemini-cli/gemC2", set()),
    ],
)
def test_the_tools_of_real_clients_are_described_by_the_names_they_are_known_by(
    corpus: Any, wire: str, folder: str, without_schema: set[str]
) -> None:
    described = 0
    for target, body, _, _ in recorded(corpus / "fixtures" / folder):
        request = WIRES[wire].read_request(json.dumps(body).encode(), target=target)
        if request is not None:
            names = set(map(name_of_tool, chat_tools(request.offered)))
            assert names - set(request.tools) == set()
            assert set(request.tools) - names <= without_schema
            described += len(names)
    assert described


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "type", "tools", "function", "functionDeclarations", "parameters", "input_schema", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.lists(JSON, max_size=4))
def test_whatever_is_offered_what_comes_out_can_be_sent(entries: list[Any]) -> None:
    tools = list(chat_tools(entries))
    json.loads(dumps(tools))
    assert json.dumps(tools, allow_nan=False)
    assert all(name_of_tool(tool) for tool in tools)


def test_a_schema_without_end_is_cut() -> None:
    deep: Json = {}
    for _ in range(5_000):
        deep = {"properties": deep}
    (tool,) = chat_tools([{**SAID, "parameters": deep}])
    assert len(dumps(tool)) < 2_000
