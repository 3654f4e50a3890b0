"""Responses requests, and the digests by which a turn is known again in the next request."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.openai_responses import OpenAiResponses
from paste_proxy.wire.types import LlmRequest, Message
from tests.wire.reading import answered_by, request_of
from tests.wire.response_events import added, call, custom, done, ended, grown, grows, message, stream
from tests.wire.streams import brief
from tests.wire.test_jsonspans import JSON

TARGET, WIRE = "/v1/responses", OpenAiResponses()
USER = {"role": "user", "content": "hi"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}


def request(*items: Any, **fields: Any) -> LlmRequest:
    return request_of(WIRE, {"model": "m", "input": list(items), **fields}, TARGET)


def history(*items: Any) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in request(*items).messages]


def output(call_id: str, said: Any, kind: str = "function_call_output", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "output": said, **fields}


def test_a_request_tells_model_stream_tools_and_history() -> None:
    tools = [
        {"type": "function", "name": "read_file", "parameters": {}, "defer_loading": True},
        {"type": "custom", "name": "patch"},
        {"type": "namespace", "name": "mcp__s", "tools": [{"type": "function", "name": "look"}, {"type": "function"}]},
        {"type": "namespace", "name": "mcp__t", "tools": [{"type": "function", "name": "mcp__t__look"}]},
        {"type": "local_shell"},
        {"type": "computer_use_preview"},
        {"type": "web_search"},
        {"type": "mcp", "name": "theirs", "server_label": "s"},
        None,
    ]
    read = request(USER, stream=True, tools=tools, instructions="be good", new={})
    assert (read.model, read.stream, read.session_hint, read.previous, read.utility) == ("m", True, None, None, False)
    assert read.tools == ("read_file", "patch", "mcp__s__look", "mcp__t__look", "local_shell", "computer")
    assert [(m.role, m.text) for m in read.messages] == [("system", "be good"), ("user", "hi")]


def test_input_that_is_a_text_is_the_users_message() -> None:
    as_text = request_of(WIRE, {"model": "m", "input": "hi"}, TARGET)
    assert as_text.messages == request(USER).messages


def test_messages_are_read_by_role_and_their_parts_of_text() -> None:
    parts = [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:x"},
        {"type": "input_text", "text": "it"},
    ]
    assert history({"type": "message", "role": "developer", "content": parts}) == [("developer", "see\nit")]
    other = [*parts[:1], {"type": "input_image", "image_url": "data:y"}, *parts[2:]]
    digests = {request({"role": "user", "content": content}).messages[0].digest for content in (parts, other)}
    assert len(digests) == 2


def test_items_of_one_turn_are_one_message_and_each_output_is_one() -> None:
    read = request(
        USER,
        REASONING,
        message("I look."),
        {"type": "web_search_call", "id": "ws", "status": "completed"},
        call("f", "a", '{"x":1}'),
        call("look", "b", "{}", namespace="mcp__s"),
        output("a", "one"),
        output("b", [{"type": "input_text", "text": "two"}]),
        REASONING,
        custom("patch", "c", "text"),
        output("c", "three", "custom_tool_call_output"),
    ).messages
    assert [(m.role, m.text) for m in read] == [
        ("user", "hi"),
        ("assistant", "I look."),
        ("tool", "one"),
        ("tool", "two"),
        ("assistant", ""),
        ("tool", "three"),
    ]
    assert brief(read[1].calls) == [(0, "a", "f", {"x": 1}), (1, "b", "mcp__s__look", {})]
    assert brief(read[4].calls) == [(0, "c", "patch", {"input": "text"})]
    assert [m.output and (m.output.call_id, m.output.output) for m in read[2:]] == [
        ("a", "one"),
        ("b", "two"),
        None,
        ("c", "three"),
    ]


def test_the_agents_own_shell_and_its_output_are_a_call_and_an_output() -> None:
    shell = {"type": "local_shell_call", "call_id": "a", "action": {"type": "exec", "command": ["ls"]}}
    asked, answer = request(shell, {"type": "local_shell_call_output", "id": "a", "output": "files"}).messages
    assert brief(asked.calls) == [(0, "a", "local_shell", {"type": "exec", "command": ["ls"]})]
    assert answer.output is not None
    assert (answer.output.call_id, answer.output.output) == ("a", "files")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ([{"type": "input_image", "image_url": "data:x"}], [{"type": "input_image", "image_url": "data:x"}]),
        ([{"stdout": "x", "stderr": "", "outcome": {}}], [{"stdout": "x", "stderr": "", "outcome": {}}]),
        ({"type": "computer_screenshot", "file_id": "f"}, {"type": "computer_screenshot", "file_id": "f"}),
        ([], ""),
        (None, None),
    ],
)
def test_an_output_that_is_more_than_text_is_kept_as_it_is(said: Any, kept: Any) -> None:
    read = request(output("a", said)).messages[0]
    assert read.output is not None
    assert read.output.output == kept


@pytest.mark.parametrize(
    ("status", "failed"), [("completed", False), (None, False), ("failed", True), ("incomplete", True)]
)
def test_an_output_failed_if_the_wire_says_so(status: str | None, failed: bool) -> None:
    read = request(output("a", "x", "apply_patch_call_output", status=status)).messages[0]
    assert read.output is not None
    assert read.output.failed is failed


def test_b59_a_reference_to_an_item_is_a_message_without_text() -> None:
    assert history({"id": "msg_1"}, {"type": "item_reference", "id": "m"}) == [("item_reference", "")] * 2
    first, same, other = (request(item).messages[0].digest for item in ({"id": "a"}, {"id": "a"}, {"id": "b"}))
    assert first == same != other


HOSTED = {"type": "container_reference", "container_id": "x"}
SHELL = {"type": "shell_call", "id": "sh", "call_id": "c9", "action": {"commands": ["ls"]}, "environment": HOSTED}
SEARCH = {"type": "tool_search_call", "id": "ts", "call_id": None, "execution": "server", "arguments": {"paths": ["x"]}}
FOUND: dict[str, Any] = {"type": "tool_search_output", "id": "tso", "call_id": None, "execution": "server", "tools": []}
OF_VENDOR: dict[str, list[Any]] = {
    "hosted-tool-search": [SEARCH, FOUND],
    "hosted-shell": [SHELL, {"type": "shell_call_output", "id": "sho", "call_id": "c9", "output": []}],
    "compaction": [{"type": "compaction", "id": "cmp", "encrypted_content": "zz"}],
    "more-tools": [{"type": "additional_tools", "id": "at", "role": "developer", "tools": []}],
    "a-function-answered": [call("g", "z", "{}"), output("z", "x", id="fco_1", status="completed")],
    "program": [{"type": "program", "id": "p", "call_id": "c", "code": ""}, {"type": "program_output", "call_id": "c"}],
    "of-a-kind-to-come": [{"type": "dream", "id": "d", "content": "x"}],
}


@pytest.mark.parametrize("items", OF_VENDOR.values(), ids=OF_VENDOR.keys())
@pytest.mark.parametrize("first", [True, False])
def test_what_the_vendor_puts_into_a_turn_is_read_alike_in_stream_and_history(items: list[Any], first: bool) -> None:
    beside = [message("I look."), call("f", "a", "{}")]
    whole = [*items, *beside] if first else [beside[0], *items, beside[1]]
    end = answered_by(WIRE, [stream(*(done(item, at) for at, item in enumerate(whole)), ended())])[1]
    echo = request(USER, *whole, output("a", "x")).messages
    assert end.complete
    assert [message.role for message in echo] == ["user", "assistant", "tool"]
    assert echo[1].digest == end.digest
    assert brief(echo[1].calls) == brief(end.calls)


def test_a_compaction_that_a_request_ends_with_is_no_turn() -> None:
    asked = request(USER, {"type": "compaction", "encrypted_content": "zz"})
    assert [message.role for message in asked.messages] == ["user"]


@pytest.mark.parametrize(
    "said",
    [
        output("c9", [], "shell_call_output", id="x", status="completed"),
        {"type": "tool_search_output", "call_id": "c7", "execution": "client", "tools": []},
        {"type": "tool_search_output", "call_id": "c7", "tools": []},
        output("a", "x", status="completed"),
        output("a", "x", id="fco_1"),
    ],
)
def test_what_the_agent_answers_is_a_tools_message(said: dict[str, Any]) -> None:
    assert [message.role for message in request(USER, said).messages] == ["user", "tool"]


def test_a_computers_actions_are_its_arguments() -> None:
    click = {"type": "click", "x": 1}
    for fields, arguments in (({"action": click}, click), ({"actions": [click]}, {"actions": [click]})):
        item = {"type": "computer_call", "id": "cc", "call_id": "c3", "status": "completed", **fields}
        seen, end = answered_by(WIRE, [stream(done(item), ended())])
        assert brief(seen) == [(0, "c3", "computer", arguments)]
        assert request(item).messages[0].digest == end.digest


def test_b37_a_cut_call_in_the_history_is_no_call_but_keeps_the_order_of_the_next() -> None:
    assert brief(request(call("f", "a", '{"x'), call("g", "b")).messages[0].calls) == [(1, "b", "g", {})]


def test_b38_outputs_of_one_id_stay_apart() -> None:
    read = request(call("f", "a", '{"n":1}'), call("f", "a", '{"n":2}'), output("a", "one"), output("a", "two"))
    assert brief(read.messages[0].calls) == [(0, "a", "f", {"n": 1}), (1, "a", "f", {"n": 2})]
    assert [m.output and m.output.output for m in read.messages[1:]] == ["one", "two"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b'{"model":"m"}', b'{"input":{}}', b'{"input":3}', b'{"messages":[]}', b"\xff{"]
)
def test_what_is_no_responses_request_is_none(body: bytes) -> None:
    assert WIRE.read_request(body, target=TARGET) is None


def test_a_request_may_go_on_from_an_answer_with_nothing_but_new_items() -> None:
    read = request(output("a", "x"), previous_response_id="resp_1")
    assert (read.previous, [m.role for m in read.messages]) == ("resp_1", ["tool"])


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ({"prompt_cache_key": "k"}, None),
        ({"client_metadata": {"session_id": "s", "turn_id": "t"}, "prompt_cache_key": "k"}, "s"),
        ({"client_metadata": {"thread_id": "t"}}, "t"),
        ({"metadata": {"session_id": "s"}}, "s"),
        ({"conversation": "conv_1", "prompt_cache_key": "k"}, "conv_1"),
        ({"conversation": {"id": "conv_1"}}, "conv_1"),
        ({"metadata": {"user_id": "u"}, "user": "u", "safety_identifier": "u"}, None),
        ({"prompt_cache_key": 3, "conversation": {}}, None),
    ],
)
def test_a_session_is_hinted_by_its_own_fields_never_by_the_user(fields: dict[str, Any], hint: str | None) -> None:
    assert request(USER, **fields).session_hint == hint


FORM = {"format": {"type": "json_schema", "name": "x", "schema": {}}}


@pytest.mark.parametrize(
    ("items", "fields", "utility"),
    [
        ([USER], {"text": FORM}, True),
        ([USER], {"text": FORM, "tools": [{"type": "web_search"}]}, True),
        ([USER], {"text": {"format": {"type": "text"}}}, False),
        ([USER], {}, False),
        ([USER], {"text": FORM, "tools": [{"type": "function", "name": "f"}]}, False),
        ([USER, call("f", "a", "{}"), output("a", "x")], {"text": FORM}, False),
        ([USER], {"text": FORM, "previous_response_id": "resp_1"}, False),
        ([USER], {"text": FORM, "conversation": "conv_1"}, False),
    ],
)
def test_a_side_question_demands_a_form_of_a_model_without_tools(
    items: list[Any], fields: dict[str, Any], utility: bool
) -> None:
    assert request(*items, **fields).utility is utility


# --- digests --------------------------------------------------------------------------------------

STREAMED = stream(
    added(REASONING),
    added({**message(""), "content": []}, 1),
    grows("I look. ", "msg_1", 1, of="output_text"),
    added(call("f", "a", namespace="s"), 2),
    grown("fc_a", 2, arguments='{"b": [1, 2], "a": 1.0}'),
    ended(),
)


def turn(*items: Any) -> Message:
    return request(USER, *items, output("a", "x")).messages[1]


CALL = call("f", "a", '{"b": [1, 2], "a": 1.0}', namespace="s")
ECHOES: dict[str, list[Any]] = {
    "as-streamed": [REASONING, message("I look. "), CALL],
    "without-reasoning": [message("I look."), CALL],
    "as-a-plain-message": [{"role": "assistant", "content": "I look."}, CALL],
    "other-ids-and-status": [message("I look.", "m", status="completed"), {**CALL, "id": "x", "call_id": "y"}],
    "other-white-space": [message("I look."), {**CALL, "arguments": '{\n"a":1.0,"b":[1,2]}'}],
    "namespace-in-the-name": [message("I look."), call("s__f", "a", CALL["arguments"])],
    "text-in-two-parts": [
        {"role": "assistant", "content": [{"type": "output_text", "text": t} for t in ("I ", "look.")]},
        CALL,
    ],
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES.keys())
def test_a_streamed_turn_and_its_echo_have_one_digest(echo: list[Any]) -> None:
    assert answered_by(WIRE, [STREAMED])[1].digest == turn(*echo).digest


DIFFERENT: dict[str, list[Any]] = {
    "other-text": [message("I looked."), CALL],
    "no-call": [message("I look.")],
    "other-name": [message("I look."), {**CALL, "name": "g"}],
    "other-namespace": [message("I look."), {**CALL, "namespace": "t"}],
    "a-custom-tool": [message("I look."), custom("s__f", "a", CALL["arguments"])],
}


@pytest.mark.parametrize("other", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_another_turn_has_another_digest(other: list[Any]) -> None:
    assert answered_by(WIRE, [STREAMED])[1].digest != turn(*other).digest


def test_b37_a_cut_call_has_the_digest_of_its_echo() -> None:
    cut = stream(added(call("f", "a")), grows('{"path":"/sr', "fc_a"), ended("incomplete"))
    assert answered_by(WIRE, [cut])[1].digest == turn(call("f", "a", '{"path":"/sr', status="incomplete")).digest


def test_b38_outputs_differ_by_id_and_by_what_they_say() -> None:
    said = [
        ("a", "x"),
        ("b", "x"),
        ("a", "y"),
        ("ax", ""),
        ("a", [{"type": "input_image", "image_url": "x"}]),
        ("a", {"x": 1}),
    ]
    assert len({request(output(call_id, text)).messages[0].digest for call_id, text in said}) == len(said)


@given(st.text(), st.dictionaries(st.text(max_size=4), JSON, max_size=3), st.data())
def test_any_turn_cut_anywhere_has_the_digest_of_its_echo(
    text: str, arguments: dict[str, Any], data: st.DataObject
) -> None:
    draw: Callable[[st.SearchStrategy[Any]], Any] = data.draw
    written = json.dumps(arguments, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    at, text_at = draw(st.integers(0, len(written))), draw(st.integers(0, len(text)))
    body = stream(
        added({**message(""), "content": []}),
        grows(text[:text_at], "msg_1", of="output_text"),
        grows(text[text_at:], "msg_1", of="output_text"),
        added(call("f", "a"), 1),
        grows(written[:at], "fc_a", 1),
        grows(written[at:], "fc_a", 1),
        *([done(call("f", "a", written), 1)] if draw(st.booleans()) else []),
        ended(),
        named=draw(st.booleans()),
        end=draw(st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r"])),
    )
    places = sorted(draw(st.lists(st.integers(0, len(body)), max_size=8)))
    seen, end = answered_by(WIRE, [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)])
    echo = turn(message(text.strip()), call("f", "a", json.dumps(arguments, sort_keys=True)))
    assert end.complete
    assert end.digest == echo.digest
    assert tuple(seen) == end.calls == echo.calls
