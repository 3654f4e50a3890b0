"""What a Messages request says."""

import json
from typing import Any

import pytest

from paste_proxy.wire.anthropic_messages import AnthropicMessages
from paste_proxy.wire.types import LlmRequest, Message, SeenOutput
from tests.wire.anthropic_streams import answer, text, tool
from tests.wire.reading import answered_by, request_of

TARGET = "/v1/messages?beta=true"
UUID = "31c29990-9119-47c4-a7d6-37e726becdb2"
CLAUDE_CODE = {"user_id": json.dumps({"device_id": "d", "account_uuid": "", "session_id": UUID})}
READ = {"name": "Read", "input_schema": {"type": "object"}}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}


def read(*messages: Any, **fields: Any) -> LlmRequest:
    return request_of(AnthropicMessages(), {"model": "m", "messages": list(messages), **fields}, TARGET)


def one(message: Any) -> list[Message]:
    return list(read(message).messages)


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def use(call_id: str, name: str, given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def said(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


MARK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
IMAGE: dict[str, Any] = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


def test_model_stream_tools_and_session() -> None:
    request = read(user("hi"), stream=True, tools=[READ, {**READ, "name": "Find", "defer_loading": True}, SEARCH])
    assert (request.model, request.stream, request.tools) == ("m", True, ("Read", "Find"))
    assert (request.session_hint, request.utility, request.previous) == (None, False, None)


def test_typed_tools_that_the_agent_runs_are_its_own() -> None:
    typed = [{"type": "bash_20250124", "name": "bash"}, {"type": "memory_20250818", "name": "memory"}]
    assert read(user("hi"), tools=[*typed, SEARCH, {"type": "mcp_toolset"}]).tools == ("bash", "memory")


@pytest.mark.parametrize(
    ("user_id", "session"),
    [
        (CLAUDE_CODE["user_id"], UUID),
        (f"user_ab12_account_{UUID[::-1]}_session_{UUID}", UUID),
        (f"user_ab12_account__session_{UUID}", UUID),
        ("a person", None),
        ('{"session_id":', None),
        ('{"session_id":7}', None),
        (None, None),
    ],
)
def test_the_session_that_claude_code_names_is_taken_and_a_person_is_none(user_id: Any, session: str | None) -> None:
    assert read(user("hi"), metadata={"user_id": user_id}).session_hint == session


def test_system_comes_first_in_either_form_and_may_come_again_later() -> None:
    plain = read(user("hi"), system="be").messages
    listed = read(user("hi"), system=[said("be", **MARK)]).messages
    assert plain == listed
    assert [(m.role, m.text) for m in plain] == [("system", "be"), ("user", "hi")]
    assert [m.role for m in read(user("hi"), {"role": "system", "content": [said("now")]}).messages] == [
        "user",
        "system",
    ]


def test_text_reads_the_same_as_a_string_and_as_blocks_and_wherever_the_cache_marker_stands() -> None:
    forms = ["a\nb", [said("a"), said("b")], [said("a", **MARK), said("b")], [said("a"), said("b", **MARK)]]
    assert len({message.digest for form in forms for message in one(user(form))}) == 1
    assert one(user([said("a"), IMAGE | MARK]))[0].digest == one(user([said("a"), IMAGE]))[0].digest
    assert one(user([said("a"), IMAGE]))[0].digest != one(user("a"))[0].digest


def test_several_results_are_a_message_each_and_what_else_is_said_comes_after_them() -> None:
    messages = one(user([said("go on"), result("a", "1"), result("b", [said("2"), said("3")], is_error=True, **MARK)]))
    assert [(m.role, m.text) for m in messages] == [("tool", "1"), ("tool", "2\n3"), ("user", "go on")]
    assert [m.output for m in messages] == [
        SeenOutput(call_id="a", output="1"),
        SeenOutput(call_id="b", output="2\n3", failed=True),
        None,
    ]


def test_a_result_alone_is_no_users_message_and_one_with_an_image_is_kept_as_it_is() -> None:
    (message,) = one(user([result("a", [said("see"), IMAGE])]))
    assert message.output == SeenOutput(call_id="a", output=[said("see"), IMAGE])
    assert [m.output and m.output.output for m in one(user([result("a", None)]))] == [""]


def test_b38_results_with_one_id_stay_two() -> None:
    messages = one(user([result("c", "1"), result("c", "2")]))
    assert [m.output and (m.output.call_id, m.output.output) for m in messages] == [("c", "1"), ("c", "2")]
    assert messages[0].digest != messages[1].digest


def test_a_marker_on_a_result_changes_nothing() -> None:
    assert one(user([result("a", "1", **MARK)])) == one(user([result("a", "1")]))


def test_calls_are_those_of_the_agents_tools() -> None:
    (message,) = one(
        assistant(
            said("I look."),
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "mcp_tool_use", "id": "m", "name": "x", "input": {}},
            use("a", "f", {"x": 1}),
            use("b", "g", None),
            use("c", "h", [1]),
        )
    )
    assert [(c.order, c.call_id, c.name, c.arguments) for c in message.calls] == [
        (0, "a", "f", {"x": 1}),
        (1, "b", "g", {}),
    ]


def test_b19_b20_the_echo_of_a_streamed_turn_has_its_digest_with_or_without_thinking() -> None:
    streamed = answer(text(0, "I ", "look.\n"), tool(1, "a", "f", '{"x": 1,', '"y":"\\u00e9"}'), tool(2, "b", "g"))
    digest = answered_by(AnthropicMessages(), [streamed])[1].digest
    thinking = {"type": "thinking", "thinking": "caf\u00e9  \\/", "signature": "c2ln"}
    echo = [said("I look."), use("a", "f", {"y": "é", "x": 1}), use("b", "g", {}) | MARK]
    assert one(assistant(*echo))[0].digest == digest
    assert one(assistant(thinking, {"type": "redacted_thinking", "data": "x"}, *echo))[0].digest == digest
    assert one(assistant(said("I "), said("look."), *echo[1:]))[0].digest == digest
    assert one(assistant(*echo[:2]))[0].digest != digest


def test_b59_unknown_fields_and_blocks_are_tolerated_and_told_apart() -> None:
    odd = {"type": "hologram", "depth": 3}
    request = read(user([odd]), user([odd | {"depth": 4}]), new={}, tools=[{**READ, "eager": True}, 7, None])
    assert request.tools == ("Read",)
    assert request.messages[0].digest != request.messages[1].digest


FORM = {"output_config": {"format": {"type": "json_schema", "schema": {}}}}
OLDER_FORM = {"output_format": {"type": "json_schema", "schema": {}}}


class TestSideQuestions:
    @pytest.mark.parametrize(
        ("fields", "utility"),
        [
            ({}, False),
            ({"output_config": {"effort": "high"}}, False),
            (FORM, True),
            (OLDER_FORM, True),
            (FORM | {"tools": [READ]}, False),
            ({"metadata": CLAUDE_CODE}, True),
            ({"metadata": CLAUDE_CODE, "tools": [SEARCH]}, True),
            ({"metadata": CLAUDE_CODE, "tools": [READ, SEARCH]}, False),
            ({"metadata": {"user_id": "a person"}}, False),
        ],
    )
    def test_one_without_tools_is_beside_the_task_where_a_form_or_claude_code_shows_it(
        self, fields: dict[str, Any], utility: bool
    ) -> None:
        assert read(user("title?"), **fields).utility is utility

    def test_none_is_that_goes_on_after_tools(self) -> None:
        past = [user("go"), assistant(use("a", "f", {})), user([result("a")])]
        assert not read(*past, metadata=CLAUDE_CODE, **FORM).utility


@pytest.mark.parametrize(
    ("body", "target"),
    [
        (b'{"messages":[{"role":"user","content":"x"}]}', "/v1/messages/count_tokens?beta=true"),
        (b'{"requests":[{"custom_id":"1","params":{"messages":[]}}]}', "/v1/messages/batches"),
        (b'{"messages":[]}', TARGET),
        (b"[]", TARGET),
        (b"", TARGET),
    ],
)
def test_what_is_no_turn_is_none(body: bytes, target: str) -> None:
    assert AnthropicMessages().read_request(body, target=target) is None
