"""Chat Completions requests, and the digests by which a turn is known again in the next request."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.openai_chat import OpenAiChat
from paste_proxy.wire.types import LlmRequest, Message
from tests.wire.streams import answered, brief, calling, delta, part, sse
from tests.wire.test_jsonspans import JSON

TARGET = "/v1/chat/completions"


def request(*messages: Any, **fields: Any) -> LlmRequest:
    read = OpenAiChat().read_request(json.dumps({"model": "m", "messages": messages, **fields}).encode(), target=TARGET)
    assert read is not None
    return read


def message(**fields: Any) -> Message:
    return request(fields).messages[0]


def test_a_request_tells_model_stream_tools_and_history() -> None:
    tools = [
        {"type": "function", "function": {"name": "read_file", "parameters": {}}, "defer_loading": True},
        {"type": "custom", "custom": {"name": "patch"}},
        {"type": "function", "name": "flat"},
        None,
    ]
    read = request({"role": "user", "content": "hi"}, stream=True, tools=tools, functions=[{"name": "old"}], new={})
    assert (read.model, read.stream, read.session_hint) == ("m", True, None)
    assert read.tools == ("read_file", "patch", "flat", "old")
    assert [(m.role, m.text) for m in read.messages] == [("user", "hi")]


def test_b38_calls_and_outputs_keep_their_order_when_ids_repeat() -> None:
    calls = [{"id": "call_0", "function": {"name": "f", "arguments": json.dumps({"n": n})}} for n in (1, 2)]
    read = request(
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_0", "content": "one"},
        {"role": "tool", "tool_call_id": "call_0", "content": [{"type": "text", "text": "two"}]},
    )
    assert brief(read.messages[0].calls) == [(0, "call_0", "f", {"n": 1}), (1, "call_0", "f", {"n": 2})]
    assert [m.output and (m.output.call_id, m.output.output) for m in read.messages[1:]] == [
        ("call_0", "one"),
        ("call_0", "two"),
    ]


@pytest.mark.parametrize("arguments", ["", " ", None, "null", "{}", {}], ids=lambda value: f"B36-{value!r}")
def test_absent_arguments_read_as_empty_ones(arguments: Any) -> None:
    read = message(role="assistant", tool_calls=[{"id": "a", "function": {"name": "f", "arguments": arguments}}])
    assert brief(read.calls) == [(0, "a", "f", {})]


def test_b37_a_cut_call_in_the_history_is_no_call_but_keeps_the_order_of_the_next() -> None:
    calls = [{"id": "a", "function": {"name": "f", "arguments": '{"x'}}, {"id": "b", "function": {"name": "g"}}]
    assert brief(message(role="assistant", tool_calls=calls).calls) == [(1, "b", "g", {})]


def test_b02_a_call_without_a_name_is_no_call() -> None:
    assert message(role="assistant", tool_calls=[{"id": "a", "function": {"arguments": "{}"}}]).calls == ()


def test_an_infinite_number_somewhere_does_not_cost_the_message() -> None:
    read = OpenAiChat().read_request(b'{"top_p":Infinity,"messages":[{"role":"user","content":"hi"}]}', target=TARGET)
    assert read is not None
    assert read.messages[0].text == "hi"


def test_a_tool_message_with_an_image_keeps_its_parts() -> None:
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
    read = message(role="tool", tool_call_id="a", content=parts)
    assert (read.text, read.output and read.output.output) == ("see", parts)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b'{"model":"m"}', b'{"messages":[]}', b'{"messages":{}}', b'{"prompt":"x"}', b"\xff{"]
)
def test_what_is_no_chat_request_is_none(body: bytes) -> None:
    assert OpenAiChat().read_request(body, target=TARGET) is None


def test_a_request_without_tools_is_an_agent_turn_too() -> None:
    assert request({"role": "user", "content": "hi"}).tools == ()


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ({"prompt_cache_key": "k"}, None),
        ({"metadata": {"session_id": "s"}, "prompt_cache_key": "k"}, "s"),
        ({"metadata": {"user_id": "u"}, "user": "u"}, None),
        ({"prompt_cache_key": 3, "session_id": ""}, None),
    ],
)
def test_a_session_is_hinted_by_its_own_fields_never_by_the_user(fields: dict[str, Any], hint: str | None) -> None:
    assert request({"role": "user", "content": "x"}, **fields).session_hint == hint


# --- digests --------------------------------------------------------------------------------------

STREAMED = sse(
    delta(role="assistant", content=""),
    delta(content="I look. "),
    delta(tool_calls=[part('{"b": [1, 2], ', index=0, id="a", name="f")]),
    delta("tool_calls", tool_calls=[part('"a": 1.0}', index=0)]),
)
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"b": [1, 2], "a": 1.0}'}}


def call(**function: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "function": {"name": "f", "arguments": '{"b":[1,2],"a":1.0}'} | function}]


ECHOES: dict[str, dict[str, Any]] = {
    "as-streamed": {"content": "I look. ", "tool_calls": [CALL]},
    "trimmed": {"content": "I look.", "tool_calls": [CALL]},
    "as-parts": {"content": [{"type": "text", "text": "I look. "}], "tool_calls": [CALL]},
    "as-marked-parts": {
        "content": [{"type": "text", "text": "I look.", "cache_control": {"type": "ephemeral"}}],
        "tool_calls": [CALL],
    },
    "in-two-parts": {
        "content": [{"type": "text", "text": "I "}, {"type": "text", "text": "look."}],
        "tool_calls": [CALL],
    },
    "other-key-order": {"content": "I look.", "tool_calls": call(arguments='{"a":1.0,"b":[1,2]}')},
    "other-white-space": {"content": "I look.", "tool_calls": call(arguments='{\n "b": [1,2],\n "a": 1.0\n}')},
    "as-an-object": {"content": "I look.", "tool_calls": call(arguments={"a": 1.0, "b": [1, 2]})},
    "other-id": {"content": "I look.", "tool_calls": [CALL | {"id": "toolu_1"}]},
    "more-fields": {
        "content": "I look.",
        "tool_calls": [CALL],
        "name": "x",
        "reasoning_content": "hm",
        "refusal": None,
    },
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES.keys())
def test_a_streamed_turn_and_its_echo_have_one_digest(echo: dict[str, Any]) -> None:
    _, end = answered([STREAMED])
    assert end.digest == message(role="assistant", **echo).digest
    assert len(end.digest) == 16


@pytest.mark.parametrize(
    "content", [{}, {"content": None}, {"content": ""}, {"content": []}, {"content": [{"type": "text", "text": ""}]}]
)
def test_no_text_is_the_same_however_it_is_said(content: dict[str, Any]) -> None:
    _, end = answered([calling(part("{}", index=0, id="a", name="f"))])
    calls = [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]
    assert end.digest == message(role="assistant", tool_calls=calls, **content).digest


def test_the_older_function_call_and_its_echo_have_one_digest() -> None:
    _, end = answered([sse(delta(function_call={"name": "f", "arguments": '{"x": 1}'}), delta("function_call"))])
    assert (
        end.digest
        == message(role="assistant", content=None, function_call={"name": "f", "arguments": '{"x":1}'}).digest
    )


def test_an_answer_that_was_not_streamed_has_the_digest_of_its_echo() -> None:
    body = json.dumps({"choices": [{"message": {"content": "I look. ", "tool_calls": [CALL]}}]}).encode()
    _, end = answered([body], content_type="application/json")
    assert end.digest == message(role="assistant", content="I look.", tool_calls=[CALL]).digest


DIFFERENT: dict[str, dict[str, Any]] = {
    "other-text": {"content": "I looked.", "tool_calls": [CALL]},
    "no-call": {"content": "I look."},
    "two-calls": {"content": "I look.", "tool_calls": [CALL, CALL]},
    "other-name": {"content": "I look.", "tool_calls": call(name="g")},
    "other-arguments": {"content": "I look.", "tool_calls": call(arguments='{"b":[1,2],"a":2.5}')},
    "cut-arguments": {"content": "I look.", "tool_calls": call(arguments='{"b":[1,2],"a":1')},
}


@pytest.mark.parametrize("other", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_another_turn_has_another_digest(other: dict[str, Any]) -> None:
    assert answered([STREAMED])[1].digest != message(role="assistant", **other).digest


def test_b37_a_cut_call_has_the_digest_of_its_echo() -> None:
    _, end = answered([calling(part('{"path":"/sr', index=0, id="a", name="f"), finish="length")])
    echo = message(role="assistant", content="", tool_calls=call(arguments='{"path":"/sr'))
    assert end.digest == echo.digest


def test_b38_outputs_differ_by_id_and_by_text() -> None:
    texts = [("a", "x"), ("b", "x"), ("a", "y"), ("ax", "")]
    digests = {message(role="tool", tool_call_id=call_id, content=text).digest for call_id, text in texts}
    assert len(digests) == len(texts)
    as_parts = message(role="tool", tool_call_id="a", content=[{"type": "text", "text": "x"}])
    assert as_parts.digest == message(role="tool", tool_call_id="a", content="x").digest


def test_other_messages_differ_by_role_text_and_parts_but_not_by_cache_marks() -> None:
    def image(url: str, **more: Any) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}, **more}]}

    different: list[dict[str, Any]] = [
        {"role": "user", "content": "x"}, {"role": "system", "content": "x"}, {"role": "user", "content": "y"},
        image("1"), image("2"), {"role": "user", "content": image("1")["content"] * 2},
    ]  # fmt: skip
    assert len({message(**fields).digest for fields in different}) == len(different)
    assert message(**image("1")).digest == message(**image("1", cache_control={"type": "ephemeral"})).digest


@given(st.text(), st.dictionaries(st.text(max_size=4), JSON, max_size=3), st.data())
def test_any_turn_cut_anywhere_has_the_digest_of_its_echo(
    text: str, arguments: dict[str, Any], data: st.DataObject
) -> None:
    draw: Callable[[st.SearchStrategy[Any]], Any] = data.draw
    written = json.dumps(arguments, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    at, text_at = draw(st.integers(0, len(written))), draw(st.integers(0, len(text)))
    stream = sse(
        delta(content=text[:text_at]),
        delta(content=text[text_at:]),
        delta(tool_calls=[part(written[:at], index=0, id="a", name="f")]),
        delta("tool_calls", tool_calls=[part(written[at:], index=0)]),
    )
    _, end = answered([stream])
    calls = [{"id": "a", "function": {"name": "f", "arguments": json.dumps(arguments, sort_keys=True)}}]
    echo = message(role="assistant", content=text.strip(), tool_calls=calls)
    assert end.complete
    assert end.digest == echo.digest
    assert end.calls == echo.calls
