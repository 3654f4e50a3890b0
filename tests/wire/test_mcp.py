"""What is understood of MCP, in both eras."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.result import Status
from paste_proxy.wire.jsonrpc import Notification, Request, read_message
from paste_proxy.wire.mcp import (
    PROTOCOL_VERSION,
    Era,
    McpToolCall,
    era_of,
    same_identity,
    sse_message,
    tool_call,
    tool_result,
)
from paste_proxy.wire.sse import SseDecoder, SseEvent
from tests.wire.test_jsonspans import JSON

STATELESS = {PROTOCOL_VERSION: "2026-07-28"}


def asked(params: Any, method: str = "tools/call") -> Request:
    return Request(b"7", method, json.dumps(params).encode())


def test_a_tool_call_is_read() -> None:
    call = tool_call(asked({"name": "lookup", "arguments": {"key": "a"}, "_meta": {"progressToken": "p"}}))
    assert call == McpToolCall(
        id_raw=b"7", name="lookup", arguments={"key": "a"}, era=Era.SESSION, plain=True, progress_token=b'"p"'
    )


@pytest.mark.parametrize(
    ("meta", "call_id", "session"),
    [
        ({"callId": "call_2_0", "sessionId": "s", "threadId": "t"}, "call_2_0", "s"),
        ({"callId": "call_2_0", "x-codex-turn-metadata": {"session_id": "s"}}, "call_2_0", "s"),
        ({"claudecode/toolUseId": "toolu_1", "progressToken": 4}, "toolu_1", None),
        ({"callId": 1, "sessionId": None, "x-codex-turn-metadata": 3}, None, None),
        ({}, None, None),
        ([], None, None),
    ],
)
def test_the_llms_call_id_and_the_session_are_taken_where_a_client_passes_them_on(
    meta: Any, call_id: str | None, session: str | None
) -> None:
    call = tool_call(asked({"name": "f", "_meta": meta}))
    assert call is not None
    assert (call.call_id, call.session) == (call_id, session)


def test_b72_the_era_is_decided_request_by_request() -> None:
    for meta, era in [(STATELESS, Era.STATELESS), ({}, Era.SESSION)]:
        request = asked({"name": "f", "_meta": meta})
        call = tool_call(request)
        assert call is not None
        assert call.era is era_of(request.params_raw) is era
    assert era_of(None) is Era.SESSION


@pytest.mark.parametrize("absent", [{}, {"arguments": None}, {"arguments": {}}])
def test_b36_absent_arguments_are_empty_ones(absent: dict[str, Any]) -> None:
    call = tool_call(asked({"name": "f", **absent}))
    assert call is not None
    assert (call.arguments, call.plain) == ({}, True)


@pytest.mark.parametrize(
    "more",
    [
        {"task": {"ttl": 1}},
        {"inputResponses": {}, "requestState": "s"},
        {"arguments": [1]},
        {"arguments": "x"},
        {"arguments": {"x": float("nan")}},
        {"later": 1},
        {"_meta": {"acme/tenant": "T1"}},
        {"_meta": {"progressToken": 1, "acme": None}},
        {"_meta": [1]},
    ],
    ids=str,
)
def test_a_call_with_more_to_it_is_not_plain(more: dict[str, Any]) -> None:
    call = tool_call(asked({"name": "f", "arguments": {}, **more}))
    assert call is not None
    assert not call.plain


@pytest.mark.parametrize(
    "meta",
    [
        {"progressToken": 1, "callId": "c", "itemId": "i", "sessionId": "s", "threadId": "t", "windowId": "w"},
        {"claudecode/toolUseId": "toolu_1", "x-codex-turn-metadata": {"session_id": "s"}},
        {"traceparent": "00-1-2-01", "tracestate": "a=b", "baggage": "k=v"},
        STATELESS,
        {},
        None,
    ],
)
def test_meta_by_which_a_call_is_only_told_of_leaves_it_plain(meta: Any) -> None:
    call = tool_call(asked({"name": "f", "arguments": {}, "_meta": meta}))
    assert call is not None
    assert call.plain


def test_what_a_client_says_of_itself_is_compared_by_value() -> None:
    told = {**STATELESS, "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}
    call = tool_call(asked({"name": "f", "_meta": {**told, "progressToken": 1}}))
    assert call is not None
    assert same_identity(call.identity, json.dumps(dict(reversed(told.items())), indent=1).encode())
    assert not same_identity(call.identity, json.dumps(STATELESS).encode())


def test_whole_numbers_of_any_size_stay_whole() -> None:
    call = tool_call(asked({"name": "f", "arguments": {"n": 12345678901234567891}}))
    assert call is not None
    assert call.arguments == {"n": 12345678901234567891}


@pytest.mark.parametrize("params", [None, {}, {"name": 1}, [], "x"])
def test_a_call_without_a_name_is_none(params: Any) -> None:
    assert tool_call(asked(params)) is None
    assert tool_call(Request(b"1", "tools/call", None)) is None


def test_other_requests_are_no_tool_calls() -> None:
    assert tool_call(asked({"name": "f"}, method="prompts/get")) is None


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (b'{"content":[]}', Status.OK),
        (b'{"content":[], "isError" : false }', Status.OK),
        (b'{"content":[],"isError":false,"resultType":"complete"}', Status.OK),
        (b'{"content":[],"isError":true}', Status.ERROR),
        (b'{"content":[],"isError":1}', Status.ERROR),
    ],
)
def test_b46_a_result_is_kept_byte_for_byte_with_its_status(result: bytes, status: Status) -> None:
    read = tool_result(result)
    assert read is not None
    assert (read.body, read.status) == (result, status)


@pytest.mark.parametrize(
    "result",
    [
        b'{"resultType":"input_required","requestState":"s"}',
        b'{"resultType":"task"}',
        b'{"resultType":null,"content":[]}',
        b'{"task":{"taskId":"1"}}',
        b"null",
        b"[]",
        b'{"content":[',
        b"",
    ],
)
def test_b72_a_result_that_is_no_final_answer_is_none(result: bytes) -> None:
    assert tool_result(result) is None


@pytest.mark.parametrize("data", [b'{"a":1}', b'{\n "a": 1\n}'])
def test_a_message_framed_as_an_event_comes_out_as_it_was(data: bytes) -> None:
    assert SseDecoder(100).feed(sse_message(data)) == [SseEvent("message", data)]


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_nothing_raises(raw: bytes) -> None:
    tool_result(raw)
    for params in (raw, b'{"name":"f","arguments":' + raw + b"}", b'{"name":"f","_meta":' + raw + b"}"):
        tool_call(Request(b"1", "tools/call", params))
        era_of(params)


def test_a_notification_is_no_call_to_answer() -> None:
    assert isinstance(read_message(b'{"method":"tools/call","params":{"name":"f"}}'), Notification)
